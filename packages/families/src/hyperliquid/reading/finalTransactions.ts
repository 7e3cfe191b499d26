import type { QuorumClient, Sighting } from '@causeway/rpc'
import {
  FinalReadingCache,
  MalformedAnswerError,
  type ReadingCacheLimits,
  singleRoundQuestion,
} from '@causeway/rpc'
import { createFinalTransactions } from '../../shared/finalTransactions.ts'
import {
  type HyperliquidTransaction,
  type LedgerSend,
  parseLedgerSend,
  parseSpotTokens,
  parseTransaction,
} from './answers.ts'
import { HyperliquidCurrencyError } from './hyperliquidErrors.ts'
import type { HyperliquidView } from './hyperliquidView.ts'
import { ledgerRequest, spotMetaRequest, transactionRequest } from './requests.ts'

export type HyperliquidReaderLimits = ReadingCacheLimits

/** Finality rule that evidence names: the exchange's blocks are final as soon as they are shown. @source rule F-154 */
export const finalityRule = 'shown in a block'

/** The account in whose ledger a transfer is looked up, and the transfer's time. */
export type LedgerPlace = { readonly user: string; readonly timestampMs: number }

/** Limit of cached decimals: far above the exchange's few hundred tokens. */
const tokensKeptMax = 2_000

export type HyperliquidTransactions = ReturnType<typeof createHyperliquidTransactions>

/**
 * Reads and caches transactions of the exchange and decimals of its tokens. A transaction comes from the
 * explorer, or, if its sender and time are known, from the sender's ledger. The two are cached apart:
 * a ledger shows no block and not all members of the action, so endpoints agree only on readings of one kind.
 */
export function createHyperliquidTransactions(options: {
  readonly quorum: QuorumClient<HyperliquidView>
  readonly limits: HyperliquidReaderLimits
}) {
  const { quorum, limits } = options
  const { chainId } = quorum
  const finalTransactions = createFinalTransactions({
    quorum,
    limits,
    finalityRule,
    // A transaction that was read from a ledger names no block.
    shownIn: ({ blockNumber }: HyperliquidTransaction) => (blockNumber === undefined ? {} : { blockNumber }),
    weightOf: ({ send = '' }) => JSON.stringify(send, textOfBigints).length,
  })
  const decimals = new FinalReadingCache<number>({
    chainId,
    limits: { finalEntriesMax: tokensKeptMax, finalWeightMax: tokensKeptMax },
    weightOf: () => 1,
  })

  async function readDecimals(tokenId: string, signal: AbortSignal): Promise<number> {
    const { facts } = await quorum.read({
      ...singleRoundQuestion<{ readonly decimals: number | null }, HyperliquidView>(
        async (view, viewSignal) => {
          const tokens = parseSpotTokens(await view.ask(spotMetaRequest, viewSignal))
          const listed = tokens.filter((token) => token.tokenId === tokenId)
          if (listed.length > 1) throw new MalformedAnswerError('spotMeta')
          return { kind: 'final', facts: { decimals: listed[0]?.decimals ?? null } }
        },
      ),
      signal,
    })
    if (facts.decimals === null) throw new HyperliquidCurrencyError('CURRENCY_DECIMALS_UNKNOWN')
    return facts.decimals
  }

  return {
    /**
     * @param transactionId canonical
     * @param place entry of a ledger that is read in place of the explorer; if the ledger has no such
     * transfer at that very time, the transaction counts as missing
     * @throws what `QuorumClient.read` throws
     */
    read(transactionId: string, place: LedgerPlace | undefined, signal: AbortSignal) {
      const key = JSON.stringify([transactionId, place?.user, place?.timestampMs])
      const round = singleRoundQuestion(async (view: HyperliquidView, viewSignal) =>
        judge(
          place === undefined
            ? await readFromExplorer(view, transactionId, viewSignal)
            : await readFromLedger(view, transactionId, place, viewSignal),
        ),
      )
      return finalTransactions.read({ key, question: { ...round, transactionId } }, signal)
    },
    /** @throws HyperliquidCurrencyError, and what `QuorumClient.read` throws */
    decimalsOf(tokenId: string, signal: AbortSignal): Promise<number> {
      return decimals.read({ key: tokenId }, signal, (shared) => readDecimals(tokenId, shared))
    },
    forget() {
      finalTransactions.forget()
      decimals.forget()
    },
  }
}

async function readFromExplorer(
  view: HyperliquidView,
  transactionId: string,
  signal: AbortSignal,
): Promise<HyperliquidTransaction | undefined> {
  return parseTransaction(await view.explore(transactionRequest(transactionId), signal), transactionId)
}

/** A ledger names tokens by symbol; the id comes from the same endpoint's list of tokens. */
async function readFromLedger(
  view: HyperliquidView,
  transactionId: string,
  { user, timestampMs }: LedgerPlace,
  signal: AbortSignal,
): Promise<HyperliquidTransaction | undefined> {
  const [ledger, meta] = await Promise.all([
    view.ask(ledgerRequest(user, timestampMs), signal),
    view.ask(spotMetaRequest, signal),
  ])
  const ledgerSend = parseLedgerSend(ledger, transactionId)
  if (ledgerSend?.timeMs !== BigInt(timestampMs)) return undefined
  return withTokenId(ledgerSend, meta)
}

function withTokenId(ledgerSend: LedgerSend, meta: unknown): HyperliquidTransaction {
  const { send } = ledgerSend
  const listed = parseSpotTokens(meta).filter(({ name }) => name === send.token)
  const [token] = listed
  if (token === undefined || listed.length > 1) throw new MalformedAnswerError('spotMeta')
  return { ...ledgerSend, send: { ...send, token: `${send.token}:${token.tokenId}` } }
}

function judge(transaction: HyperliquidTransaction | undefined): Sighting<HyperliquidTransaction> {
  if (transaction === undefined) return { kind: 'refused', reason: 'missing' }
  if (transaction.hasFailed) return { kind: 'refused', reason: 'reverted' }
  return { kind: 'final', facts: transaction }
}

function textOfBigints(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
