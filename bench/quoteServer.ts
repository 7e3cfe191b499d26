// The service as `main.ts` builds it, with routes of constant bytes beside the real ones: the same app,
// the same hooks, the same body parser.

import { loadConfig } from '../apps/quote-api/src/config.ts'
import { createQuoteApi } from '../apps/quote-api/src/createQuoteApi.ts'

const root = new URL('..', import.meta.url).pathname
const api = await createQuoteApi(loadConfig(process.env, root), process.env)
for (const [path, variable] of [
  ['/bench/price', 'BENCH_PRICE_BYTES'],
  ['/bench/quote', 'BENCH_QUOTE_BYTES'],
] as const) {
  const bytes = JSON.stringify({ filler: 'x'.repeat(Number(process.env[variable]) - 13) })
  api.app.post(path, { config: { rateLimitClass: 'quote' } }, (_request, reply) => {
    reply.type('application/json; charset=utf-8').send(bytes)
  })
}
const { publicUrl } = await api.listen()
console.log(`listening ${publicUrl}`)
process.on('SIGTERM', () => void api.close().then(() => process.exit(0)))
