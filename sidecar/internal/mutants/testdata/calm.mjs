// Opens and closes three times, and reads in between: calm.mjs ACCOUNT
const [account, answers] = [process.argv[2], {}];

async function send(path, body) {
  const reply = await fetch(process.env.TRADING_BASE_URL + path, {
    method: body ? "POST" : "GET",
    headers: { "X-API-Key": process.env.TRADING_LIVE_KEY },
    body: body && JSON.stringify(body),
  });
  await reply.text();
  answers[reply.status] = (answers[reply.status] ?? 0) + 1;
}

for (let i = 0; i < 3; i++) {
  await send("/orders", { accountId: account, symbol: "BTC", side: "long", size: 0.01, leverage: 2 });
  for (let j = 0; j < 5; j++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await send("/positions?accountId=" + account);
  }
  await send("/positions/close", { accountId: account, symbol: "BTC" });
}
console.log("answered", JSON.stringify(answers));
