// The oracle as it is built for production, with a route of constant bytes beside the real ones: the same
// app, the same body parser, the same hooks. Plain JavaScript, so that nothing is translated.
import { fileURLToPath } from 'node:url'
import { createOracle, loadConfig } from '../apps/oracle/dist/index.js'
import { registerMemory } from './memoryRoute.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const oracle = await createOracle(loadConfig(process.env, root), process.env)
const bytes = JSON.stringify({ filler: 'x'.repeat(Number(process.env.BENCH_ANSWER_BYTES) - 13) })
oracle.app.post('/bench/attestation', (_request, reply) => {
  reply.type('application/json; charset=utf-8').send(bytes)
})
registerMemory(oracle.app)
const { publicUrl } = await oracle.listen()
console.log(`listening ${publicUrl}`)
process.on('SIGTERM', () => void oracle.close().then(() => process.exit(0)))
