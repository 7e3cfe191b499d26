// The oracle as it is built for production, with a route of constant bytes beside the real ones: the same
// app, the same body parser, the same hooks. It runs from a bundle, as the service does.
import { fileURLToPath } from 'node:url'
import { answerJson } from '@causeway/http'
import { createOracle, loadConfig } from '../apps/oracle/src/index.ts'
import { registerMemory } from './memoryRoute.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const oracle = await createOracle(loadConfig(process.env, root), process.env)
const bytes = Promise.resolve(
  JSON.stringify({ filler: 'x'.repeat(Number(process.env.BENCH_ANSWER_BYTES) - 13) }),
)
// The way on which the real routes answer: a slower one would flatter them.
oracle.app.post('/bench/attestation', (_request, reply) => answerJson(reply, bytes))
registerMemory(oracle.app)
const { publicUrl } = await oracle.listen()
console.log(`listening ${publicUrl}`)
process.on('SIGTERM', () => void oracle.close().then(() => process.exit(0)))
