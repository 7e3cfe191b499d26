// A stand-in, not Lighter: the parts of its HTTP API that facts are read from, over transactions and accounts
// that a test sets. Nothing is signed, proven or executed.
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { Hex } from '@causeway/core'
import { closeServer, listenOnLoopback } from '../http/listen.ts'
import { lighterBodies } from './bodies.ts'

/** As in the JSON of `info`; numbers are printed digit by digit. */
export type TransferInfo = {
  readonly FromAccountIndex: bigint
  readonly ApiKeyIndex: bigint
  readonly ToAccountIndex: bigint
  readonly AssetIndex: bigint
  readonly FromRouteType: bigint
  readonly ToRouteType: bigint
  readonly Amount: bigint
  readonly USDCFee: bigint
  readonly Memo: readonly number[]
  readonly ExpiredAt: bigint
  readonly Nonce: bigint
}

export type StoredTransaction = {
  readonly hash: string
  readonly type: number
  readonly status: number
  readonly queuedAtMs: bigint
  readonly info: string
}

export type Answer = {
  readonly status: number
  readonly text: string
  readonly headers?: Record<string, string>
}

/** What is done to the true answer before it leaves: a delay, an error, a lie. */
export type Fault = (path: string, truth: Answer) => Answer | 'hang' | 'reset' | Promise<Answer | 'hang'>

export type LighterNode = {
  readonly url: string
  readonly explorerUrl: string
  put(transaction: StoredTransaction): void
  setAccount(index: string, l1Address: string): void
  setContract(contract: Hex): void
  /** Statuses that the explorer tells, by hash; default `executed`. */
  setLogStatus(hash: string, status: string): void
  fault(fault: Fault | undefined): void
  /** Paths asked since the last reset, in order. */
  asked(): readonly string[]
  reset(): void
  headers(): IncomingHttpHeaders
  stop(): Promise<void>
}

const refused = (text: string): Answer => ({ status: 400, text })

/** @param port default: a free one */
export async function startLighterNode(port = 0): Promise<LighterNode> {
  const transactions = new Map<string, StoredTransaction>()
  const accounts = new Map<string, string>()
  const logStatuses = new Map<string, string>()
  let contract: Hex = '0x3B4D794a66304F130a4Db8F2551B0070dfCf5ca7'
  let fault: Fault | undefined
  let asked: string[] = []
  let headers: IncomingHttpHeaders = {}

  function truth(path: string): Answer {
    const { pathname, searchParams } = new URL(path, 'http://node')
    const value = searchParams.get('value') ?? ''
    switch (pathname) {
      case '/info':
        return ok(lighterBodies.info.body(contract))
      case '/api/v1/tx': {
        const found = searchParams.get('by') === 'hash' ? transactions.get(value) : undefined
        return found === undefined
          ? refused(lighterBodies.notFound.body.transaction)
          : ok(lighterBodies.transaction.body(found))
      }
      case '/api/v1/account': {
        const address = searchParams.get('by') === 'index' ? accounts.get(value) : undefined
        return address === undefined
          ? refused(lighterBodies.notFound.body.account)
          : ok(lighterBodies.account.body(value, address))
      }
      default:
        return pathname.startsWith('/explorer/')
          ? ok(logs(pathname, searchParams))
          : { status: 403, text: '' }
    }
  }

  function logs(pathname: string, query: URLSearchParams): string {
    const account = pathname.split('/')[3] ?? ''
    const own = [...transactions.values()].reverse().flatMap(({ hash, type, info }) => {
      if (type !== 12) return []
      const { FromAccountIndex: from, ToAccountIndex: to } = JSON.parse(info)
      if (![String(from), String(to)].includes(account)) return []
      const status = logStatuses.get(hash) ?? 'executed'
      return [{ hash, status, from: String(from), to: String(to) }]
    })
    const offset = Number(query.get('offset'))
    return lighterBodies.logs.body(own.slice(offset, offset + Number(query.get('limit'))))
  }

  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    headers = request.headers
    asked.push(path)
    const answer = fault === undefined ? truth(path) : await fault(path, truth(path))
    if (answer === 'hang') return
    if (answer === 'reset') return void request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(answer.text)
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  const url = await listenOnLoopback(server, port)
  return {
    url,
    explorerUrl: `${url}/explorer`,
    put: (transaction) => void transactions.set(transaction.hash, transaction),
    setAccount: (index, l1Address) => void accounts.set(index, l1Address),
    setContract(next) {
      contract = next
    },
    setLogStatus: (hash, status) => void logStatuses.set(hash, status),
    fault(next) {
      fault = next
    },
    asked: () => asked,
    reset() {
      asked = []
    },
    headers: () => headers,
    stop: () => closeServer(server),
  }
}

function ok(text: string): Answer {
  return { status: 200, text }
}
