// One webhook with its receiver per test, over a database of the file's own; requests change their status as
// settlement changes it.
import type { ChildProcess } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { type Hex, Secret, type SqlDatabase } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest'
import { parsePeppers } from '../../src/access/keys/peppers.ts'
import { type Administration, createAdministration } from '../../src/operate/administration.ts'
import { toBytes } from '../../src/requests/orders/orderColumns.ts'
import { createOrderStore } from '../../src/requests/orders/orderStore.ts'
import type { RequestStatus } from '../../src/requests/status/requestProgress.ts'
import { setStatus } from '../../src/requests/status/requestProgress.ts'
import { announceStatus } from '../../src/webhooks/announceStatus.ts'
import {
  createWebhookDelivery,
  type DeliveryAttempt,
  type WebhookDelivery,
  type WebhookDeliveryOptions,
} from '../../src/webhooks/deliverWebhooks.ts'
import { createMessageSender, type SenderOptions } from '../../src/webhooks/sendMessage.ts'
import { orderMigrations, orderNamed } from '../orderSupport/orders.ts'
import { pepperText } from '../sponsorSupport/sponsors.ts'
import { type Received, type Receiver, startReceiver } from './receiver.ts'

export const actor = 'cli:test'
export const peppers = parsePeppers(new Secret(pepperText))

type Current = { readonly receiver: Receiver; readonly keyId: string; readonly secret: string }

/** Registers the hooks of a test file. */
export function useWebhooks() {
  let server: TestDatabase | undefined
  let current: Current | undefined
  const open = (): TestDatabase => {
    if (server === undefined) throw new Error('the database is not started')
    return server
  }
  const now = (): Current => {
    if (current === undefined) throw new Error('no test is running')
    return current
  }
  beforeAll(async () => {
    const directories = [{ name: 'ledger', path: ledgerMigrations }, orderMigrations]
    server = await startTestDatabase({ directories })
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    await open().database.query('delete from webhook_endpoint')
    const receiver = await openReceiver()
    current = { receiver, ...(await createWebhook(administration(open().database), receiver.url)) }
  })

  const stored = (requestId: Hex) =>
    open().database.query<{ state: string; attempts: number; problem: string | null }>(
      'select state, attempts, problem from webhook_delivery where request_id = $1 order by seq',
      [toBytes(requestId)],
    )

  return {
    get database() {
      return open().database
    },
    get connectionString() {
      return open().connectionString
    },
    get receiver() {
      return now().receiver
    },
    get keyId() {
      return now().keyId
    },
    get secret() {
      return now().secret
    },
    administration: (allowPrivate = true) => administration(open().database, allowPrivate),
    createWebhook: (url: string) => createWebhook(administration(open().database), url),
    /** A stored quote of a key. */
    async request(apiKeyId: string | undefined = now().keyId): Promise<Hex> {
      const order = orderNamed(randomUUID(), { apiKeyId })
      await createOrderStore({ database: open().database }).save(order)
      return order.requestId
    },
    /** As settlement does it. @returns false when the status was final */
    show: (requestId: Hex, status: RequestStatus) =>
      open().database.transaction((tx) =>
        setStatus(
          tx,
          announceStatus,
          status === 'failure' || status === 'refund'
            ? { requestId, status, failReason: 'DEPOSIT_REORGED' }
            : { requestId, status },
        ),
      ),
    deliver: (sender: Partial<SenderOptions> = {}) => deliver(open().database, sender),
    /** Stored messages of a request, in their order. */
    stored,
    async areDelivered(requestId: Hex, count: number): Promise<boolean> {
      const rows = await stored(requestId)
      return rows.length === count && rows.every(({ state }) => state === 'delivered')
    },
  }
}

export async function openReceiver(): Promise<Receiver> {
  const opened = await startReceiver()
  onTestFinished(() => opened.stop())
  return opened
}

function administration(database: SqlDatabase, allowPrivate = true): Administration {
  const config = { environment: 'local', configDirectory: 'configs', webhooks: { allowPrivate } }
  return createAdministration({ config, database, peppers })
}

async function createWebhook(
  { keys, webhooks }: Administration,
  url: string,
): Promise<{ keyId: string; secret: string }> {
  const { id } = await keys.create({ actor, label: 'shop' })
  const { secret } = await webhooks.set({ actor, apiKeyId: id, url, headers: {} })
  if (secret === undefined) throw new Error('a new webhook shows its secret')
  return { keyId: id, secret }
}

/** Quick retries, no chance, receivers on loopback. */
export function createTestDelivery(
  options: Pick<WebhookDeliveryOptions, 'database'> & Partial<WebhookDeliveryOptions>,
): WebhookDelivery {
  return createWebhookDelivery({
    keptDays: 30,
    peppers,
    send: createMessageSender({ allowPrivate: true, timeoutMs: 10_000, now: () => Date.now() }),
    retry: { firstMs: 5 },
    random: () => 0.5,
    now: () => performance.now(),
    onAttempt: () => {},
    onFailure: (error) => {
      throw error
    },
    ...options,
  })
}

/** Sends until the test is over. */
function deliver(
  database: SqlDatabase,
  sender: Partial<SenderOptions>,
): { readonly attempts: readonly DeliveryAttempt[] } {
  const attempts: DeliveryAttempt[] = []
  const stopping = new AbortController()
  const delivery = createTestDelivery({
    database,
    send: createMessageSender({ allowPrivate: true, timeoutMs: 10_000, now: () => Date.now(), ...sender }),
    onAttempt: (attempt) => attempts.push(attempt),
  })
  const repeat = async () => {
    while (!stopping.signal.aborted) {
      await delivery.job.run({ fence: async () => {}, signal: stopping.signal })
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await delivery.close()
  }
  const ended = repeat()
  onTestFinished(async () => {
    stopping.abort()
    await ended
  })
  return { attempts }
}

/** As an integrator checks it, written out. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const timestamp = headers['x-signature-timestamp']
  const expected = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return headers['x-signature-sha256'] === expected
}

/** Lines of a process's output; the process is killed when the test is over. */
export function follow(child: ChildProcess): { lines(): readonly string[]; kill(): Promise<void> } {
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  return { lines: () => output.split('\n'), kill }
}
