// Wants one position, and goes on when a call takes too long, without ending that call. The
// environment says where, and what it does then.
const { LEFT_URL: base, LEFT_KEY: apiKey, LEFT_HOW: how, LEFT_PATIENCE: patience } = process.env
const sleep = (ms, value) => new Promise((done) => setTimeout(done, ms, value))

// An answer; 0 if it did not come in time, and -1 if it cannot come.
async function ask(method, path, body, key) {
  const headers = { "X-API-Key": apiKey, "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) }
  const call = fetch(base + path, { method, body, headers }).then(async (answer) => [answer.status, await answer.text()])
  return Promise.race([call.catch((err) => [-1, String(err)]), sleep(patience * 1000, [0, ""])])
}

async function has() {
  const [status, text] = await ask("GET", "/positions?accountId=acc_1")
  return status === 200 ? JSON.parse(text).positions.length > 0 : null
}

function placed() {
  console.log("placed")
  process.exit(0)
}

if ((await has()) && how !== "keyed") placed() // from an earlier run
let number = 0, status, text
for (let n = 1, end = Date.now() + 120_000; Date.now() < end; n++) {
  const key = { keyed: `entry-${number}`, renews: crypto.randomUUID(), hasty: crypto.randomUUID() }[how]
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
