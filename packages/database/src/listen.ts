import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { isConnectionError } from './errors.ts'
import { isBehindPooler } from './session.ts'

export type ListenOptions = {
  readonly connectionString: string
  /** Channel of `pg_notify`. */
  readonly channel: string
  readonly applicationName: string
  /** Called with the payload of each `pg_notify`, after its transaction has committed. */
  readonly onNotification: (payload: string) => void
  /**
   * Called when notifications begin to arrive. Those since the last loss are gone, so the listener reads the present
   * state here. Where a pooler keeps notifications away it is called every second, so that the listener polls.
   */
  readonly onConnected: () => void
  readonly onLost: (error: Error) => void
}

const retryMs = 500
const connectTimeoutMs = 5_000
/** Interval of a query that detects a server which is gone without closing the connection. */
const probeMs = 10_000
const probeTimeoutMs = 5_000
/** Interval of polling behind a pooler. */
const pollMs = 1_000

/** A pooler gives the listening connection of the server to another client after each transaction. */
class UnheardChannelError extends Error {
  override readonly name = 'UnheardChannelError'

  constructor() {
    super('a pooler that pools transactions keeps notifications away: changes are looked for every second')
  }
}

/** Listens to a channel on a connection of its own, and reconnects until closed. */
export function startListening(options: ListenOptions): { close(): Promise<void> } {
  const closing = new AbortController()
  const pause = (timeMs: number) => sleep(timeMs, undefined, { signal: closing.signal }).catch(() => {})
  const run = async () => {
    while (!closing.signal.aborted) {
      const error = await listenOnce(options, closing.signal).catch(toError)
      if (closing.signal.aborted) return
      options.onLost(error ?? new Error('the connection ended'))
      await pause(retryMs)
    }
  }
  const ended = run()
  return {
    async close() {
      closing.abort()
      await ended
    },
  }
}

/** Listens until the connection ends or `closing` is aborted. @returns the reason, where the driver named one */
async function listenOnce(options: ListenOptions, closing: AbortSignal): Promise<Error | undefined> {
  const client = createClient(options)
  const lost = new AbortController()
  client.on('error', (error) => lost.abort(error))
  client.on('end', () => lost.abort())
  const probe = randomUUID()
  const heard = new AbortController()
  client.on('notification', ({ payload = '' }) =>
    payload === probe ? heard.abort() : options.onNotification(payload),
  )
  const { signal } = lost
  const end = () => lost.abort()
  closing.addEventListener('abort', end)
  if (closing.aborted) end()
  try {
    await client.connect()
    await client.query(`listen ${client.escapeIdentifier(options.channel)}`)
    // A lost connection ends the wait for the probe; `signal` then tells it from a probe that arrived.
    signal.addEventListener('abort', () => heard.abort())
    const isHeard = !(await isBehindPooler(client)) || (await isHeardElsewhere(options, probe, heard.signal))
    if (!isHeard) options.onLost(new UnheardChannelError())
    if (!signal.aborted) options.onConnected()
    while (!signal.aborted) {
      // Behind a pooler each round polls; in the first round this repeats the call above, which is harmless.
      if (!isHeard) options.onConnected()
      await sleep(isHeard ? probeMs : pollMs, undefined, { signal }).catch(() => {})
      if (!signal.aborted) await client.query('select 1')
    }
  } finally {
    closing.removeEventListener('abort', end)
    await client.end().catch((error: unknown) => {
      // A broken connection needs no end.
      if (!isConnectionError(error)) throw error
    })
  }
  return signal.reason instanceof Error ? signal.reason : undefined
}

/**
 * Tests behind a pooler whether notifications arrive. It notifies on another connection: on the same one the pooler
 * would deliver the notification with the answer, and prove nothing.
 */
async function isHeardElsewhere(options: ListenOptions, probe: string, heard: AbortSignal): Promise<boolean> {
  const other = createClient(options)
  other.on('error', () => {})
  await other.connect()
  try {
    await other.query('select pg_notify($1, $2)', [options.channel, probe])
    await sleep(probeTimeoutMs, undefined, { signal: heard }).catch(() => {})
    return heard.aborted
  } finally {
    await other.end()
  }
}

function createClient({ connectionString, applicationName }: ListenOptions): pg.Client {
  return new pg.Client({
    connectionString,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: probeTimeoutMs,
    keepAlive: true,
    application_name: applicationName,
  })
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
