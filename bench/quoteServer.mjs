// The service as it is built for production, with routes of constant bytes beside the real ones: the
// same app, the same body parser, the same hooks, those of a deprecated route included. It runs from a bundle, as the
// service does.
import { fileURLToPath } from 'node:url'
import { answerJson } from '@causeway/http'
import { createQuoteApi, loadConfig } from '@causeway/quote-api'
import { registerMemory } from './memoryRoute.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const api = await createQuoteApi(loadConfig(process.env, root), process.env)
const deprecation = { sinceUnixSeconds: 1_748_736_000, successor: '/quote' }
for (const [path, variable, config] of [
  ['/bench/price', 'BENCH_PRICE_BYTES', { rateLimitClass: 'quote', deprecation }],
  ['/bench/quote', 'BENCH_QUOTE_BYTES', { rateLimitClass: 'quote' }],
]) {
  const bytes = Promise.resolve(JSON.stringify({ filler: 'x'.repeat(Number(process.env[variable]) - 13) }))
  // The way on which the real routes answer: a slower one would flatter them.
  api.app.post(path, { config }, (_request, reply) => answerJson(reply, bytes))
}
registerMemory(api.app)
const { publicUrl } = await api.listen()
console.log(`listening ${publicUrl}`)
process.on('SIGTERM', () => void api.close().then(() => process.exit(0)))
