import {
  parseSpotBalances,
  parseWithdrawable,
} from '../../packages/families/src/hyperliquid/quoting/calls.ts'
import {
  parseActionOutcome,
  parseLedgerSend,
  parseSpotTokens,
} from '../../packages/families/src/hyperliquid/reading/answers.ts'
import { readLedger } from '../../packages/families/src/hyperliquid/reading/ledgerPages.ts'
import {
  parseAssets,
  parseHoldings,
  parseNextNonce,
  parseSeconds,
} from '../../packages/families/src/lighter/quoting/calls.ts'
import { parseTransaction } from '../../packages/families/src/lighter/reading/answers.ts'
import { ledgerForm, spotMetaForm } from './forms.ts'
import { has, isListOf, ok, type RecordKind, Refusal } from './outcome.ts'

/** Answers of Hyperliquid's API. Its library has types of answers and no reader. */
export const hyperliquidRecords: readonly RecordKind[] = [
  {
    name: 'tokens',
    form: spotMetaForm,
    fits: ({ result }) =>
      has(result, 'tokens', 'universe') || (Array.isArray(result) && has(result[0], 'tokens')),
    read: ({ result }) => ({ tokens: parseSpotTokens(Array.isArray(result) ? result[0] : result) }),
  },
  {
    name: 'balances',
    fits: ({ result }) => has(result, 'balances'),
    read: ({ result }) => ({ balances: parseSpotBalances(ok(result), () => 8).size }),
  },
  {
    name: 'a margin account',
    fits: ({ result }) => has(result, 'withdrawable'),
    read: ({ result }) => ({ withdrawable: parseWithdrawable(ok(result)) }),
  },
  {
    name: 'an outcome of an action',
    fits: ({ result }) => has(result, 'status', 'response'),
    read: ({ result }) => ({ ...parseActionOutcome(result) }),
  },
  {
    name: 'entries of a ledger',
    form: ledgerForm,
    fits: ({ result }) => isListOf(result, 'hash', 'time', 'delta'),
    async read({ result }) {
      const range = { from: 0n, to: 0n }
      const entries = await readLedger({ ask: async () => result }, '', range, new AbortController().signal)
      const sends = entries.map(({ hash }) => parseLedgerSend(result, hash))
      return { entries: entries.length, sends: sends.length }
    },
  },
]

/** Answers of Lighter's API. */
export const lighterRecords: readonly RecordKind[] = [
  {
    name: 'an account',
    fits: ({ result }) => has(result, 'accounts'),
    read: ({ result }) => ({
      holdings: parseHoldings(ok(result), String(Object(result)['accounts'][0]['index']), () => 18),
    }),
  },
  {
    name: 'assets',
    fits: ({ result }) => has(result, 'asset_details'),
    read: ({ result }) => ({ assets: parseAssets(ok(result)).size }),
  },
  {
    name: 'a nonce',
    fits: ({ result }) => has(result, 'code', 'nonce') && !has(result, 'hash'),
    read: ({ result }) => ({ nonce: parseNextNonce(ok(result)) }),
  },
  {
    name: 'a status',
    fits: ({ result }) => has(result, 'network_id', 'timestamp'),
    read: ({ result }) => ({ seconds: parseSeconds(ok(result)) }),
  },
  {
    name: 'a transaction',
    fits: ({ result }) => has(result, 'hash', 'event_info') || Object(result)['code'] === 21_500,
    read({ text, result }) {
      const transaction = parseTransaction(text, String(Object(result)['hash']).toLowerCase())
      if (transaction === undefined) throw new Refusal('there is none')
      return { ...transaction }
    },
  },
]
