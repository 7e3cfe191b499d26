// A service with a public listener, a job, a connection and a database, which can be held at a stage of its end; started by
// closing.test.ts.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase } from '@causeway/database'
import { composeService, installShutdown, openListeners, type ServiceParts } from '@causeway/service'
import { createTestApp } from '../../http/test/fixtures/httpTestApp.ts'

const { databaseUrl, chainPort, holdAt } = JSON.parse(process.argv[2] ?? '{}')
const at = { host: '127.0.0.1', port: 0 }

function openState({ logger, check, onClose }: ServiceParts<'state'>) {
  const database = createDatabase({
    connectionString: databaseUrl,
    poolSize: 4,
    applicationName: 'closing',
    onConnectionLost: (err) => logger.warn({ err }, 'connection lost'),
  })
  onClose('state', 'database', async () => {
    await database.close()
    logger.info({ closed: 'state' }, 'closed')
  })
  check({ name: 'database', check: () => database.ping() })
  return database
}

/** Every order is told to it before it counts as booked. */
async function openChain({ logger, onClose }: ServiceParts<'connections'>) {
  const socket = connect(chainPort, '127.0.0.1')
  await once(socket, 'connect')
  onClose('connections', 'chain', async () => {
    socket.end()
    await once(socket, 'close')
    logger.info({ closed: 'connections' }, 'closed')
  })
  return async (id: string) => {
    if (!socket.writable) throw new Error('the chain is closed')
    socket.write(`${id}\n`)
    await once(socket, 'data')
  }
}

type Database = ReturnType<typeof openState>

function startBooking(
  { logger, onClose }: ServiceParts<'jobs'>,
  database: Database,
  tell: (id: string) => Promise<void>,
): void {
  let isStopping = false
  const book = () =>
    database.transaction(async (tx) => {
      const [order] = await tx.query<{ id: string }>(
        'select id from placed_order where not booked order by id limit 1 for update skip locked',
      )
      if (order === undefined) return sleep(5)
      await tell(order.id)
      await tx.query('update placed_order set booked = true where id = $1', [order.id])
    })
  const repeat = async () => {
    while (!isStopping) await book().catch((err) => logger.error({ err }, 'job failed'))
  }
  const ended = repeat()
  onClose('jobs', 'booking', async () => {
    isStopping = true
    await ended
    logger.info({ closed: 'jobs' }, 'closed')
  })
}

await composeService({ name: 'closing', logLevel: 'info' }, async (service) => {
  const { logger, metrics, readiness, opsListener, onClose, close } = service
  const database = openState(service)
  startBooking(service, database, await openChain(service))
  const app = await createTestApp({ logger, metrics, readiness })
  app.post('/orders/:id', async (request) => {
    // CAST: the route's own parameter.
    const { id } = request.params as { id: string }
    await database.query('insert into placed_order (id) values ($1)', [id])
    return { id }
  })
  onClose('listeners', 'public listener', async () => {
    await app.close()
    logger.info({ closed: 'listeners' }, 'closed')
  })
  onClose('operations', 'last line', () => logger.info({ closed: 'operations' }, 'closed'))
  // Made last in its stage, it ends first.
  if (holdAt !== undefined)
    onClose(holdAt, 'held', () => {
      logger.info({ holdAt }, 'held')
      return new Promise(() => {})
    })
  installShutdown({ logger, readiness, close, drainMs: 100 })
  const urls = await openListeners(service, {
    publicUrl: { app, at, setting: 'HTTP_PORT' },
    opsUrl: { app: opsListener, at, setting: 'OPS_PORT' },
  })
  logger.info(urls, 'listening')
})
