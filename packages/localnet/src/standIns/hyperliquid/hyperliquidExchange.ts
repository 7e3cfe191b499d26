// A stand-in, not the exchange: it keeps a list of transactions and serves `/info` and `/explorer` as the exchange does. It
// matches no orders. Where it has a venue it takes transfers at `/exchange`, which checks signatures, nonces and balances.
import { formatFixed } from '@causeway/core'
import type { HyperliquidWithdrawal } from '@causeway/families/rules'
import { type FaultyService, startFaultyService } from '../http/faultyService.ts'
import { hyperliquidBodies } from './bodies.ts'
import type { HyperliquidVenue } from './hyperliquidVenue.ts'

/** A transaction that the exchange shows. */
export type ListedTransaction = {
  readonly hash: string
  readonly user: string
  readonly timeMs: number
  /** Default: 700. */
  readonly block?: number
  /** Why it failed; absent or null: it succeeded. */
  readonly error?: string | null
  /** A transfer, or the body of any other action. */
  readonly action: HyperliquidWithdrawal | { readonly type: string }
}

export type ListedToken = { readonly name: string; readonly tokenId: string; readonly szDecimals: number }

/** State shared by several endpoints of one exchange. */
export type ExchangeLedger = {
  readonly transactions: ListedTransaction[]
  readonly tokens: ListedToken[]
  /** Accounts that the exchange knows. */
  readonly accounts: Set<string>
  /** Most transactions that the list of an account holds; older ones are missing in it. */
  recentMax: number
  /** Modes of accounts that set one, by account in lower case. */
  readonly modes?: Map<string, string>
  /** Takes transfers; absent where nothing is taken. */
  readonly venue?: HyperliquidVenue
}

type RequestBody = Readonly<Record<string, unknown>>

/** Starts an endpoint of the exchange. Its requests are counted by path and type. @param port default: a free one */
export function startExchange(ledger: ExchangeLedger, port?: number): Promise<FaultyService> {
  const parse = (text: string): RequestBody => Object(JSON.parse(text))
  return startFaultyService({
    keyOf: ({ path, text }) => `${path} ${parse(text)['type']}`,
    answer: async ({ path, text }) =>
      path === '/exchange' ? takeTransfer(ledger, parse(text)) : answerQuestion(ledger, parse(text)),
    port,
  })
}

async function takeTransfer({ venue }: ExchangeLedger, request: RequestBody): Promise<unknown> {
  const refusal = venue === undefined ? 'nothing is taken here' : await venue.take(request)
  const { taken, refusedAction } = hyperliquidBodies
  return refusal === undefined ? taken.body : refusedAction.body(refusal)
}

/** Answers `/info` and `/explorer`, whose requests have a `type`. */
function answerQuestion(ledger: ExchangeLedger, request: RequestBody): unknown {
  const { spotMeta, userRole, explorerTransaction, missing, refusals } = hyperliquidBodies
  const { exchangeStatus, preTransferCheck, mode, perpsState, spotState } = hyperliquidBodies
  const user = String(request['user']).toLowerCase()
  const { venue } = ledger
  const nowMs = venue?.nowMs() ?? Date.now()
  switch (request['type']) {
    case 'exchangeStatus':
      return exchangeStatus.body(nowMs)
    case 'preTransferCheck':
      return preTransferCheck.body(ledger.accounts.has(user))
    case 'userAbstraction':
      return ledger.modes?.get(user) ?? mode.body
    case 'clearinghouseState':
      // The part of an account without a name is perps.
      return perpsState.body(formatFixed(venue?.balanceOf(user, '') ?? 0n, 8), nowMs)
    case 'spotClearinghouseState':
      return spotState.body(
        ledger.tokens.flatMap(({ name, tokenId, szDecimals }, token) => {
          const amount = venue?.balanceOf(user, tokenId) ?? 0n
          return amount === 0n ? [] : [{ coin: name, token, total: formatFixed(amount, szDecimals) }]
        }),
      )
    case 'spotMeta':
      return spotMeta.body(ledger.tokens)
    case 'userRole':
      return userRole.body(ledger.accounts.has(user))
    case 'userNonFundingLedgerUpdates':
      return ledger.transactions.flatMap((one) => updatesOf(ledger, one, request))
    case 'txDetails': {
      const transaction = ledger.transactions.find(({ hash }) => hash === request['hash'])
      return transaction === undefined
        ? missing.body
        : { type: 'txDetails', tx: explorerTransaction.body(transaction) }
    }
    case 'userDetails': {
      const own = ledger.transactions.filter((one) => concerns(one, String(request['user'])))
      return { type: 'userDetails', txs: own.slice(-ledger.recentMax).map(explorerTransaction.body) }
    }
    default:
      return refusals.body.unknownQuestion
  }
}

function concerns({ user, action }: ListedTransaction, account: string): boolean {
  return user === account || ('destination' in action && action.destination === account)
}

/** The entries of a transaction in an account's ledger: one for a transfer that succeeded in the asked period. */
function updatesOf(ledger: ExchangeLedger, one: ListedTransaction, request: RequestBody): readonly unknown[] {
  const { timeMs, action, error = null } = one
  const isAsked = timeMs >= Number(request['startTime']) && timeMs <= Number(request['endTime'])
  if (error !== null || !isAsked || !concerns(one, String(request['user']))) return []
  if (!('destination' in action)) return []
  const { dollarUpdate, assetUpdate } = hyperliquidBodies
  if (action.type === 'UsdSend') return [dollarUpdate.body({ ...one, action })]
  const [, tokenId] = action.token.split(':')
  const symbol = ledger.tokens.find((listed) => listed.tokenId === tokenId)?.name ?? 'UNLISTED'
  return [assetUpdate.body({ ...one, action }, symbol)]
}
