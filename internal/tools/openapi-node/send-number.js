// Sends an order by the client that openapi-generator made, and fails if a number has
// changed on its way.
const http = require("node:http")
const { Configuration } = require("./client/index.js")
const api = Object.values(require("./client/api.js")).find((one) => one.prototype?.placeOrder)

const service = http.createServer(async (request, reply) => {
  let body = ""
  for await (const part of request) body += part
  reply.setHeader("Content-Type", "application/json").end("{}")
  const { size, stopLossPrice } = JSON.parse(body)
  if (size !== 16777217 || stopLossPrice !== 1.23456789) throw new Error(`sent ${body}`)
})
service.listen(0, "127.0.0.1", async () => {
  const basePath = `http://127.0.0.1:${service.address().port}`
  const order = { accountId: "acc_1", symbol: "BTC", side: "long", size: 16777217, leverage: 2, stopLossPrice: 1.23456789 }
  await new api(new Configuration({ basePath, apiKey: "none" })).placeOrder(order)
  console.log("the generated client sent 16777217 and 1.23456789 as they are")
  service.close()
})
