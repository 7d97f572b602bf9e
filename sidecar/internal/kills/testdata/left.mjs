// Wants one position, and goes on when a call takes too long, without ending that call. The
// environment says where, and what it does then.
const { LEFT_URL: base, LEFT_KEY: apiKey, LEFT_HOW: how, LEFT_PATIENCE: patience } = process.env
const sleep = (ms, value) => new Promise((done) => setTimeout(done, ms, value))
let came = false // an answer that nobody waits for

// An answer; 0 if it did not come in time, and -1 if it cannot come.
async function ask(method, path, body, key) {
  const headers = { "X-API-Key": apiKey, "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) }
  let left = false
  const call = fetch(base + path, { method, body, headers }).then(async (answer) => {
    const text = await answer.text()
    came ||= left && answer.status === 200 && method === "POST"
    return [answer.status, text]
  }).catch((err) => [-1, String(err)])
  const first = await Promise.race([call, sleep(patience * 1000, [0, ""])])
  left = first[0] === 0
  return first
}

async function has() {
  const [status, text] = await ask("GET", "/positions?accountId=acc_1")
  return status === 200 ? JSON.parse(text).positions.length > 0 : null
}

let took = ""
function placed() {
  console.log(took + "placed")
  process.exit(0)
}

if ((await has()) && how !== "keyed") placed() // from an earlier run
let number = 0, status, text
for (let n = 1, end = Date.now() + 120_000; Date.now() < end; n++) {
  const key = { keyed: `entry-${number}`, renews: crypto.randomUUID(), hasty: crypto.randomUUID() }[how]
  if (how === "hasty" && came) took = "took an answer and gave it up, "
  ;[status, text] = await ask("POST", "/orders", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.0${how === "changes" ? n : 1},"leverage":2}`, key)
  if (n > 1) console.log("again")
  if (status === 200) placed()
  if ((how === "keyed" || how === "hasty") && status === 0) continue
  if (how !== "keyed" || status === 422 || text.includes("idempotency_result_unknown")) {
    const there = await has()
    if (there) placed()
    if (there === false) number++
  }
  await sleep(200)
}
console.log("gave up:", status, text)
process.exit(0)
