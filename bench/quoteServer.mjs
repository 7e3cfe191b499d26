// The service as it is built for production, with routes of constant bytes beside the real ones: the
// same app, the same hooks, the same body parser. Plain JavaScript, so that nothing is translated.
import { fileURLToPath } from 'node:url'
import { createQuoteApi, loadConfig } from '@causeway/quote-api'

const root = fileURLToPath(new URL('..', import.meta.url))
const api = await createQuoteApi(loadConfig(process.env, root), process.env)
for (const [path, variable] of [
  ['/bench/price', 'BENCH_PRICE_BYTES'],
  ['/bench/quote', 'BENCH_QUOTE_BYTES'],
]) {
  const bytes = JSON.stringify({ filler: 'x'.repeat(Number(process.env[variable]) - 13) })
  api.app.post(path, { config: { rateLimitClass: 'quote' } }, (_request, reply) => {
    reply.type('application/json; charset=utf-8').send(bytes)
  })
}
const { publicUrl } = await api.listen()
console.log(`listening ${publicUrl}`)
process.on('SIGTERM', () => void api.close().then(() => process.exit(0)))
