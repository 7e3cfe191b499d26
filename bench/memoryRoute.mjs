// Memory of the process after a full garbage collection.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export function registerMemory(app) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  app.get('/bench/memory', { config: { rateLimitClass: false } }, async (_request, reply) => {
    // Twice, a turn apart: what finalizers let go falls in the second.
    collect()
    await new Promise((resolve) => setTimeout(resolve, 200))
    collect()
    reply.type('application/json; charset=utf-8')
    return reply.send(JSON.stringify(process.memoryUsage()))
  })
}
