// A stand-in, not the exchange: it keeps a list of transactions and serves `/info` and `/explorer` as the
// exchange does. It matches no orders, checks no signatures and keeps no balances.
// provenance: specified. Bodies have the members of the API's documentation and of the public client's types.
// What a missing transaction, an error and a refused archive look like is constructed.
import type { HyperliquidWithdrawal } from '@causeway/core'
import { type FaultyService, startFaultyService } from '../http/faultyService.ts'

export type ListedTransaction = {
  readonly hash: string
  readonly user: string
  readonly timeMs: number
  readonly block?: number
  readonly error?: string | null
  /** A transfer, or the body of any other action. */
  readonly action: HyperliquidWithdrawal | { readonly type: string }
}

export type ListedToken = { readonly name: string; readonly tokenId: string; readonly szDecimals: number }

/** What several endpoints of one exchange show. */
export type ExchangeLedger = {
  readonly transactions: ListedTransaction[]
  readonly tokens: ListedToken[]
  /** Accounts that the exchange knows. */
  readonly accounts: Set<string>
  /** Transactions of an account that its recent list still holds. */
  recentMax: number
}

type Asked = Readonly<Record<string, unknown>>

/** Requests are counted by path and type. @param port default: a free one */
export function startExchange(ledger: ExchangeLedger, port?: number): Promise<FaultyService> {
  const parse = (text: string): Asked => Object(JSON.parse(text))
  return startFaultyService({
    keyOf: ({ path, text }) => `${path} ${parse(text)['type']}`,
    answer: async ({ text }) => bodyOf(ledger, parse(text)),
    port,
  })
}

function bodyOf(ledger: ExchangeLedger, asked: Asked): unknown {
  switch (asked['type']) {
    case 'spotMeta':
      return { universe: [], tokens: ledger.tokens.map(renderToken) }
    case 'userRole':
      return { role: ledger.accounts.has(String(asked['user'])) ? 'user' : 'missing' }
    case 'userNonFundingLedgerUpdates':
      return ledger.transactions.flatMap((one) => renderUpdate(ledger, one, asked))
    case 'txDetails': {
      const found = ledger.transactions.find(({ hash }) => hash === asked['hash'])
      return found === undefined ? null : { type: 'txDetails', tx: renderTransaction(found) }
    }
    case 'userDetails': {
      const own = ledger.transactions.filter((one) => concerns(one, String(asked['user'])))
      return { type: 'userDetails', txs: own.slice(-ledger.recentMax).map(renderTransaction) }
    }
    default:
      return { type: 'error', message: 'Failed to deserialize the JSON body into the target type' }
  }
}

function renderToken({ name, tokenId, szDecimals }: ListedToken, index: number): unknown {
  const other = { weiDecimals: szDecimals + 2, index, isCanonical: false, evmContract: null }
  return { name, tokenId, szDecimals, ...other, fullName: null }
}

function concerns({ user, action }: ListedTransaction, account: string): boolean {
  return user === account || ('destination' in action && action.destination === account)
}

function renderTransaction({ hash, user, timeMs, block = 700, error = null, action }: ListedTransaction) {
  return { time: timeMs, user, action: renderAction(action), block, hash, error }
}

function renderAction(action: ListedTransaction['action']): unknown {
  const signatureChainId = '0xa4b1'
  if (!('destination' in action)) return action
  if (action.type === 'UsdSend') {
    return { ...action, signatureChainId, type: 'usdSend', time: Number(action.time) }
  }
  return { ...action, signatureChainId, type: 'sendAsset', nonce: Number(action.nonce) }
}

/** Only what an asset send leaves in a ledger: its token as a symbol, and no chain. */
function renderUpdate(ledger: ExchangeLedger, one: ListedTransaction, asked: Asked): readonly unknown[] {
  const { hash, user, timeMs, action, error = null } = one
  const isAsked = timeMs >= Number(asked['startTime']) && timeMs <= Number(asked['endTime'])
  if (error !== null || !isAsked || !concerns(one, String(asked['user']))) return []
  if (!('destination' in action)) return []
  const { destination, amount } = action
  if (action.type === 'UsdSend') {
    return [
      {
        time: timeMs,
        hash,
        delta: { type: 'internalTransfer', usdc: amount, user, destination, fee: '0.0' },
      },
    ]
  }
  const { sourceDex, destinationDex } = action
  const [, tokenId] = action.token.split(':')
  const token = ledger.tokens.find((listed) => listed.tokenId === tokenId)?.name ?? 'UNLISTED'
  const fees = { usdcValue: amount, fee: '0.0', nativeTokenFee: '0.0', feeToken: '' }
  const delta = { user, destination, sourceDex, destinationDex, token, amount, nonce: Number(action.nonce) }
  return [{ time: timeMs, hash, delta: { type: 'send', ...delta, ...fees } }]
}
