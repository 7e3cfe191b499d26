import { createServer } from 'node:http'

export type PriceStandIn = { readonly url: string; stop(): Promise<void> }

/**
 * A **stand-in** for a price service that an operator switches on as second source: it answers
 * `GET /prices/current/{coins}` as DefiLlama does. It listens on `localhost`, because two price sources must have
 * different host names, and the nodes are read at `127.0.0.1`.
 * @param usdByCoin price of each coin
 */
export async function startPriceStandIn(usdByCoin: Readonly<Record<string, number>>): Promise<PriceStandIn> {
  const server = createServer((request, response) => {
    const coinIds = decodeURIComponent((request.url ?? '').replace('/prices/current/', '')).split(',')
    const timestamp = Math.floor(Date.now() / 1_000)
    const coins = coinIds.flatMap((coin) => {
      const price = usdByCoin[coin]
      return price === undefined ? [] : [[coin, { price, timestamp, confidence: 0.99 }] as const]
    })
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ coins: Object.fromEntries(coins) }))
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the price stand-in has no port')
  return {
    url: `http://localhost:${address.port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
