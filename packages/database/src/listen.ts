import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { isConnectionError } from './errors.ts'
import { isBehindPooler } from './session.ts'

export type ListenOptions = {
  readonly connectionString: string
  /** A name of this project. */
  readonly channel: string
  readonly applicationName: string
  /** Told the payload of each `pg_notify`, after the commit that made it. */
  readonly onNotification: (payload: string) => void
  /**
   * Notifications come from now on. Those since the last loss are gone. Called every second where a pooler keeps them
   * away, so that whoever listens looks for changes himself.
   */
  readonly onConnected: () => void
  readonly onLost: (error: Error) => void
}

const retryMs = 500
const connectTimeoutMs = 5_000
/** A server that is gone without a word is found by this question. */
const probeMs = 10_000
const probeTimeoutMs = 5_000
const lookMs = 1_000

/** A pooler gives the connection that listens to somebody else after each transaction. */
class UnheardChannelError extends Error {
  override readonly name = 'UnheardChannelError'

  constructor() {
    super('a pooler that pools transactions keeps notifications away: changes are looked for every second')
  }
}

/** Hears a channel on one connection of its own, and connects anew until closed. */
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

/** Until the connection ends. @returns why */
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
    signal.addEventListener('abort', () => heard.abort())
    const isHeard = !(await isBehindPooler(client)) || (await isHeardElsewhere(options, probe, heard.signal))
    if (!isHeard) options.onLost(new UnheardChannelError())
    if (!signal.aborted) options.onConnected()
    while (!signal.aborted) {
      if (!isHeard) options.onConnected()
      await sleep(isHeard ? probeMs : lookMs, undefined, { signal }).catch(() => {})
      if (!signal.aborted) await client.query('select 1')
    }
  } finally {
    closing.removeEventListener('abort', end)
    await client.end().catch((error: unknown) => {
      // It was broken already.
      if (!isConnectionError(error)) throw error
    })
  }
  return signal.reason instanceof Error ? signal.reason : undefined
}

/** Notifies on another connection: on the same one a pooler would hand the notification over with the answer. */
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
