// Fastify as it comes, answering constant bytes: what the framework itself costs.
import fastify from 'fastify'

const length = Number(process.env.BENCH_ANSWER_BYTES)
const bytes = JSON.stringify({ filler: 'x'.repeat(length - 13) })
const app = fastify()
app.post('/bench/naked', (_request, reply) => {
  reply.type('application/json; charset=utf-8').send(bytes)
})
console.log(`listening ${await app.listen({ host: '127.0.0.1', port: 0 })}`)
process.on('SIGTERM', () => void app.close())
