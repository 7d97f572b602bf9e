// Buys 0.01 BTC on a live account, once, whatever happens to the replies.
//
//     npx openapi-typescript openapi.json --output description.ts
//     TRADING_BASE_URL=… TRADING_LIVE_KEY=… TRADING_ACCOUNT=… node bot.ts DECISION
//
// The same DECISION, sent again or after a crash, is the same order for 24 hours.
// Exits with 0 if it was placed, 1 if nothing was placed, 3 if a person has to look.
import type { components } from "./description.ts"

type Schemas = components["schemas"]
type Reply = { status: number; data: Record<string, unknown>; wait: string }
declare const process: { env: Record<string, string>; argv: string[]; exitCode: number }
const { TRADING_BASE_URL: base, TRADING_LIVE_KEY: apiKey, TRADING_ACCOUNT: accountId } = process.env

const notYet = ["429 rate_limited", "409 idempotency_in_flight", "503 idempotency_unavailable",
  "503 no_price", "503 PRICE_UNAVAILABLE", "503 equity_unavailable"]

// A redirect is an answer like any other: it is not followed, so the key stays here.
async function send(path: string, init: RequestInit = {}): Promise<Reply> {
  const headers = { ...init.headers, "X-API-Key": apiKey, "Content-Type": "application/json" }
  try {
    const reply = await fetch(base + path, { ...init, headers, redirect: "manual", signal: AbortSignal.timeout(10_000) })
    const data = await reply.json()
    return { status: reply.status, data: data ?? {}, wait: reply.headers.get("Retry-After") ?? "" }
  } catch {
    return { status: 0, data: {}, wait: "" } // no reply, a part of one, or a page of something in front
  }
}

// Sends an order until its outcome is known. Every attempt has the same key.
async function place(order: Schemas["OrderRequest"], key: string): Promise<[number, unknown]> {
  let lost = false, code: unknown
  for (let attempt = 0; attempt < 8; attempt++) {
    const { status, data, wait } = await send("/orders", { method: "POST", body: JSON.stringify(order), headers: { "Idempotency-Key": key } })
    if (status === 200 && data.success === true) return [0, (data as Schemas["OrderResponse"]).fill]
    code = (data as Partial<Schemas["Error"]>).error
    if (code && !notYet.includes(`${status} ${code}`)) {
      const refused = status >= 400 && status < 500 && code !== "idempotency_result_unknown"
      return [refused && !lost ? 1 : 3, code]
    }
    lost ||= !code // it may have been executed
    const seconds = /^\d{1,2}$/.test(wait) ? Number(wait) : 0.5 * 2 ** attempt
    await new Promise((done) => setTimeout(done, seconds * 1000))
  }
  return [lost ? 3 : 1, code ?? "no answer"]
}

async function main(key?: string): Promise<number> {
  if (!key) return console.error("which DECISION? node bot.ts DECISION"), 1
  if ((await send("/health")).data.ok !== true) return console.error("not safe to trade now"), 1
  const [outcome, what] = await place({ accountId, symbol: "BTC", side: "long", size: 0.01, leverage: 2 }, key)
  console.log(["placed:", "nothing was placed:", "", "look at the account:"][outcome], what)
  console.log("positions:", (await send("/positions?accountId=" + encodeURIComponent(accountId))).data.positions)
  return outcome
}

main(process.argv[2]).then((code) => (process.exitCode = code))
