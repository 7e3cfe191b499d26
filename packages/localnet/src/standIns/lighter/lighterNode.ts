// A stand-in, not Lighter: the parts of its HTTP API and of its explorer's by which facts are read and transfers sent. Several
// endpoints may answer from one exchange. It gives no proofs.
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { Hex } from '@causeway/core'
import { closeServer, listenOnLoopback } from '../http/listen.ts'
import { lighterBodies, type StoredTransaction } from './bodies.ts'
import { createLighterExchange, type LighterExchange } from './lighterExchange.ts'

export type Answer = {
  readonly status: number
  readonly text: string
  readonly headers?: Record<string, string>
}

/** Changes the true answer before it is sent: a delay, an error, a lie. */
export type Fault = (path: string, truth: Answer) => Answer | 'hang' | 'reset' | Promise<Answer | 'hang'>

export type LighterNode = {
  readonly url: string
  readonly explorerUrl: string
  /** Adds a transaction to the exchange without checking it. */
  put(transaction: StoredTransaction): void
  setAccount(index: string, l1Address: string): void
  /** Address of the contract on layer 1 that the node names. */
  setContract(contract: Hex): void
  /** Status that the explorer shows of a transaction; default `executed`. */
  setLogStatus(hash: string, status: string): void
  fault(fault: Fault | undefined): void
  /** True cuts the node off from every client. */
  cutOff(isCutOff: boolean): void
  /** Paths asked since the last reset, in order. */
  asked(): readonly string[]
  reset(): void
  /** Headers of the last request. */
  headers(): IncomingHttpHeaders
  stop(): Promise<void>
}

const refused = (text: string): Answer => ({ status: 400, text })

/** Starts an endpoint. @param port default: a free one @param exchange default: one of its own */
export async function startLighterNode(
  port = 0,
  exchange: LighterExchange = createLighterExchange(),
): Promise<LighterNode> {
  const api = new LighterApi(exchange)
  let fault: Fault | undefined
  let isCutOff = false
  let asked: string[] = []
  let headers: IncomingHttpHeaders = {}

  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    headers = request.headers
    asked.push(path)
    if (isCutOff) return void request.socket.destroy()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const truth = () => api.answer(path, Buffer.concat(chunks).toString())
    const answer = fault === undefined ? await truth() : await fault(path, await truth())
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
    put: (transaction) => void exchange.transactions.set(transaction.hash, transaction),
    setAccount: (index, l1Address) => exchange.setAccount(index, l1Address),
    setContract(next) {
      api.contract = next
    },
    setLogStatus: (hash, status) => void api.logStatuses.set(hash, status),
    fault(next) {
      fault = next
    },
    cutOff(next) {
      isCutOff = next
    },
    asked: () => asked,
    reset() {
      asked = []
    },
    headers: () => headers,
    stop: () => closeServer(server),
  }
}

/** Answers of the exchange and its explorer. */
class LighterApi {
  /** First that of the main network. */
  contract: Hex = '0x3B4D794a66304F130a4Db8F2551B0070dfCf5ca7'
  readonly logStatuses = new Map<string, string>()
  readonly #exchange: LighterExchange

  constructor(exchange: LighterExchange) {
    this.#exchange = exchange
  }

  async answer(path: string, text: string): Promise<Answer> {
    const exchange = this.#exchange
    const { pathname, searchParams } = new URL(path, 'http://node')
    const query = (name: string) => searchParams.get(name) ?? ''
    const value = query('value')
    switch (pathname) {
      case '/':
        return ok(lighterBodies.status.body(Math.floor(exchange.nowMs() / 1_000)))
      case '/api/v1/assetDetails':
        return ok(lighterBodies.assets.body())
      case '/api/v1/nextNonce':
        return ok(
          lighterBodies.nextNonce.body(exchange.nextNonce(query('account_index'), query('api_key_index'))),
        )
      case '/api/v1/transferFeeInfo': {
        if (!exchange.tellsFeeToAll && !this.#isToken(query('auth'), query('account_index')))
          return refused(lighterBodies.otherErrors.body.unauthorized)
        const fee = exchange.feeOf(query('account_index'), query('to_account_index'))
        return ok(lighterBodies.transferFee.body(fee))
      }
      case '/api/v1/accountTxs': {
        if (!this.#isToken(query('auth'), value)) return refused(lighterBodies.otherErrors.body.unauthorized)
        const from = Number(query('index'))
        const listed = exchange.listOf(value).slice(from, from + Number(query('limit')))
        return ok(lighterBodies.transactions.body(listed))
      }
      case '/api/v1/sendTx': {
        const transfer = await exchange.take(new URLSearchParams(text).get('tx_info') ?? '')
        return 'hash' in transfer
          ? ok(lighterBodies.taken.body(transfer.hash))
          : refused(lighterBodies.refusedTransfer.body(transfer.refusal))
      }
      case '/info':
        return ok(lighterBodies.info.body(this.contract))
      case '/api/v1/tx': {
        const transaction = searchParams.get('by') === 'hash' ? exchange.transactions.get(value) : undefined
        return transaction === undefined
          ? refused(lighterBodies.notFound.body.transaction)
          : ok(lighterBodies.transaction.body(transaction))
      }
      case '/api/v1/account': {
        const account = searchParams.get('by') === 'index' ? exchange.accounts.get(value) : undefined
        return account === undefined
          ? refused(lighterBodies.notFound.body.account)
          : ok(lighterBodies.account.body(value, account.l1Address, account.held))
      }
      default:
        return pathname.startsWith('/explorer/')
          ? ok(this.#logs(pathname, searchParams))
          : { status: 403, text: '' }
    }
  }

  /** The explorer's list of an account's transfers. */
  #logs(pathname: string, query: URLSearchParams): string {
    const account = pathname.split('/')[3] ?? ''
    const own = [...this.#exchange.transactions.values()].reverse().flatMap(({ hash, type, info }) => {
      // Type 12 is a transfer.
      if (type !== 12) return []
      const { FromAccountIndex: from, ToAccountIndex: to } = JSON.parse(info)
      if (![String(from), String(to)].includes(account)) return []
      const status = this.logStatuses.get(hash) ?? 'executed'
      return [{ hash, status, from: String(from), to: String(to) }]
    })
    const offset = Number(query.get('offset'))
    return lighterBodies.logs.body(own.slice(offset, offset + Number(query.get('limit'))))
  }

  /** True for a token of the account that is still valid; unlike the exchange, it checks no signature. */
  #isToken(token: string, account: string): boolean {
    const [untilSeconds, tokenAccount] = token.split(':')
    return tokenAccount === account && Number(untilSeconds) * 1_000 > this.#exchange.nowMs()
  }
}

function ok(text: string): Answer {
  return { status: 200, text }
}
