// Keeps 0.01 BTC with a stop: bot.mjs STATE PERIOD [MISTAKE]. Without a mistake it is right.
import fs from "node:fs"
const { TRADING_BASE_URL: base, TRADING_ACCOUNT: account, TRADING_LIVE_KEY: live, TRADING_SANDBOX_KEY: sandbox } = process.env
const [state, period, mistake] = [process.argv[2], Number(process.argv[3]) * 1000, process.argv[4]]
const pause = (ms) => new Promise((done) => setTimeout(done, ms))
let resume = 0, locked = false, n = 0

async function send(path, body, key) {
  if (resume > Date.now()) await pause(resume - Date.now())
  const headers = { "X-API-Key": path.startsWith("/sandbox/") ? sandbox : live }
  if (key) headers["Idempotency-Key"] = key
  try {
    const reply = await fetch(base + path, { method: body ? "POST" : "GET", body, headers, signal: AbortSignal.timeout(3000) })
    const data = await reply.json()
    const wait = reply.headers.get("Retry-After")
    if (wait) resume = Date.now() + Number(wait) * 1000
    return { status: reply.status, data }
  } catch {
    return { status: 0, data: {} }
  }
}

const positions = async () => (await send("/positions?accountId=" + account)).data.positions
const forget = () => fs.rmSync(state, { force: true })

// Sends a decision under its key until its outcome is known.
async function carryOut(decision) {
  for (let attempt = 0; attempt < 8; attempt++) {
    if (mistake === "blind") decision.key += "x"
    const { status, data } = await send("/orders", decision.order, decision.key)
    const code = data.error ?? ""
    if (status === 200) return forget()
    if (code === "account_locked") locked = true
    if (["rate_limited", "idempotency_in_flight", "no_price", ""].includes(code)) {
      await pause(100 * 2 ** attempt)
      continue
    }
    if (status >= 500 || code === "idempotency_result_unknown") while (!(await positions())) await pause(period) // the account shows it
    return forget()
  }
}

async function look() {
  const held = await positions()
  const price = (await send("/sandbox/prices")).data.prices?.BTC
  const healthy = (await send("/health")).data.ok === true
  if (locked) locked = !((await send("/accounts")).data.accounts ?? []).some((a) => a.id === account && a.status === "ACTIVE")
  if (!held || held.length > 0 || price === undefined || !healthy || locked) return
  const order = JSON.stringify({ accountId: account, symbol: "BTC", side: "long", size: 0.01, leverage: 2, stopLossPrice: Math.round(price * 99) / 100 })
  const decision = { key: `js-${Date.now()}-${n++}`, order }
  fs.writeFileSync(state, JSON.stringify(decision))
  await carryOut(decision)
}

if (fs.existsSync(state)) await carryOut(JSON.parse(fs.readFileSync(state, "utf8")))
for (;;) {
  await look()
  await pause(period)
}
