// Sends a request for each line of its input, and says whether it heard the answer.
//
// client.mjs HOW ADDRESS, where HOW is plain or fetch; each line is: NUMBER SECONDS
import http from "node:http"
import readline from "node:readline"

const [how, address] = process.argv.slice(2)
const agent = new http.Agent({ keepAlive: true })

const plain = (path, ms) => new Promise((done, failed) => {
  const [host, port] = address.split(":")
  const at = address.startsWith("/") ? { socketPath: address } : { host, port }
  const request = http.request({ ...at, path, method: "POST", agent, signal: AbortSignal.timeout(ms) }, (answer) => {
    let text = ""
    answer.on("data", (data) => (text += data))
    answer.on("end", () => done(text))
    answer.on("error", failed)
  })
  request.on("error", failed)
  request.end("{}")
})

const asks = { plain, fetch: async (path, ms) => (await fetch("http://" + address + path, { method: "POST", body: "{}", signal: AbortSignal.timeout(ms) })).text() }

for await (const line of readline.createInterface({ input: process.stdin })) {
  const [number, seconds] = line.split(" ")
  let heard = false
  try {
    heard = (await asks[how]("/" + number, Math.round(seconds * 1000))).length > 0
  } catch {}
  console.log(number, heard ? "heard" : "not")
}
