// Keeps 0.01 BTC with a stop on a live account: it looks once a minute, and buys if nothing is open.
//
//     TRADING_BASE_URL=… TRADING_LIVE_KEY=… TRADING_SANDBOX_KEY=… TRADING_ACCOUNT=… node loop.mjs STATE [SECONDS]
//
// STATE is a file on a disk that outlives the program. It holds the decision whose outcome is not known.
// A loop that was killed, and starts again with the same file, sends that decision again, under its key,
// unless that would run it again.
import fs from "node:fs"
const { TRADING_BASE_URL: base, TRADING_ACCOUNT: account, TRADING_LIVE_KEY: live, TRADING_SANDBOX_KEY: sandbox } = process.env
const [state, period] = [process.argv[2], Number(process.argv[3] ?? 60) * 1000]
if (!state) throw new Error("which STATE? node loop.mjs STATE [SECONDS]")
const pause = (ms) => new Promise((done) => setTimeout(done, ms))
const kept = 23 * 3600_000 // the service knows a key for 24 hours
let resume = 0, locked = false, n = 0

async function send(path, body, key) {
  if (resume > Date.now()) await pause(resume - Date.now()) // the service has said how long
  const headers = { "X-API-Key": path.startsWith("/sandbox/") ? sandbox : live, "Content-Type": "application/json" }
  if (key) headers["Idempotency-Key"] = key
  try {
    const init = { method: body ? "POST" : "GET", body, headers, redirect: "manual", signal: AbortSignal.timeout(10_000) }
    const reply = await fetch(base + path, init)
    const wait = reply.headers.get("Retry-After")
    if (wait) resume = Date.now() + Number(wait) * 1000
    return { status: reply.status, data: (await reply.json()) ?? {} }
  } catch {
    return { status: 0, data: {} } // no reply, a part of one, or a page of something in front
  }
}

const positions = async () => (await send("/positions?accountId=" + encodeURIComponent(account))).data.positions
const forget = () => fs.rmSync(state, { force: true })

// Has the decision on the disk before its first byte leaves.
function save(decision) {
  fs.writeFileSync(state + ".new", JSON.stringify(decision), { flush: true })
  fs.renameSync(state + ".new", state)
}

// Sends a decision under its key until its outcome is known.
async function carryOut(decision) {
  for (let attempt = 0; !decision.mayHaveRun && Date.now() < decision.at + kept; attempt++) {
    const { status, data } = await send("/orders", decision.order, decision.key)
    const code = data.error ?? ""
    if (status === 200 && data.success === true) return forget()
    if (code === "account_locked") locked = true
    if (status >= 500 && code || code === "idempotency_result_unknown") break
    if (code && !["rate_limited", "idempotency_in_flight"].includes(code)) return forget() // refused
    await pause(Math.min(500 * 2 ** attempt, 60_000))
  }
  save({ ...decision, mayHaveRun: true }) // under its key it would run once more: the account says whether it has
  while (!(await positions())) await pause(period)
  forget()
}

async function look() {
  const held = await positions()
  const price = (await send("/sandbox/prices")).data.prices?.BTC // it can be missing
  const healthy = (await send("/health")).data.ok === true
  if (locked) locked = !((await send("/accounts")).data.accounts ?? []).some((a) => a.id === account && a.status === "ACTIVE")
  if (!held || held.some((p) => p.symbol === "BTC") || price == null || !healthy || locked) return
  const order = { accountId: account, symbol: "BTC", side: "long", size: 0.01, leverage: 2,
    expectedPrice: price, stopLossPrice: Math.round(price * 99) / 100 } // too far from it, also when sent much later, is refused
  const decision = { key: `loop-${Date.now()}-${n++}`, at: Date.now(), order: JSON.stringify(order) }
  save(decision)
  await carryOut(decision)
}

if (fs.existsSync(state)) {
  await carryOut(JSON.parse(fs.readFileSync(state, "utf8")))
  await pause(period) // reads lag by some seconds
}
for (;;) {
  await look()
  await pause(period)
}
