import type { HyperliquidWithdrawal } from '@causeway/families/rules'
import type { StoredBody } from '../bodies/index.ts'
import type { ListedToken, ListedTransaction } from './hyperliquidExchange.ts'

/** A listed transfer whose action has a given type. */
type Listed<Type extends HyperliquidWithdrawal['type']> = ListedTransaction & {
  readonly action: Extract<HyperliquidWithdrawal, { type: Type }>
}

const client = '@nktkas/hyperliquid 0.32.2'

/** Bodies of the exchange, which the stand-in answers and tests of the reader use. */
export const hyperliquidBodies = {
  spotMeta: {
    provenance: 'specified',
    source: `${client}, SpotMetaResponse`,
    proves: ['decimals of a currency are those of its token'],
    body: (tokens: readonly ListedToken[]) => ({
      universe: [],
      tokens: tokens.map(({ name, tokenId, szDecimals }, index) => ({
        name,
        tokenId,
        szDecimals,
        // The exchange keeps more digits than it moves.
        weiDecimals: szDecimals + 2,
        index,
        isCanonical: false,
        evmContract: null,
        fullName: null,
        deployerTradingFeeShare: '0.0',
      })),
    }),
  },
  userRole: {
    provenance: 'specified',
    source: `${client}, UserRoleResponse`,
    proves: ['an account that the exchange does not know is missing'],
    body: (isKnown: boolean) => ({ role: isKnown ? 'user' : 'missing' }),
  },
  dollarUpdate: {
    provenance: 'specified',
    source: `${client}, UserNonFundingLedgerUpdatesResponse`,
    proves: ['a ledger shows a transfer of dollars without its nonce'],
    body: ({ hash, user, timeMs, action: { destination, amount } }: Listed<'UsdSend'>) => ({
      time: timeMs,
      hash,
      delta: { type: 'internalTransfer', usdc: amount, user, destination, fee: '0.0' },
    }),
  },
  assetUpdate: {
    provenance: 'constructed',
    source: `${client}, UserNonFundingLedgerUpdatesResponse, which does not say how a token is named`,
    proves: ['a ledger names the token of a transfer by its symbol'],
    body({ hash, user, timeMs, action }: Listed<'SendAsset'>, symbol: string) {
      const { destination, sourceDex, destinationDex, amount, nonce } = action
      const fees = { usdcValue: amount, fee: '0.0', nativeTokenFee: '0.0', feeToken: '' }
      const sent = { user, destination, sourceDex, destinationDex, token: symbol, amount }
      return { time: timeMs, hash, delta: { type: 'send', ...sent, nonce: Number(nonce), ...fees } }
    },
  },
  explorerTransaction: {
    provenance: 'specified',
    source: `${client}, ExplorerTransactionSchema; actions as the exchange's documentation has them signed`,
    proves: ['a transaction has signer, time, block, outcome and the action that was signed'],
    body: ({ hash, user, timeMs, block = 700, error = null, action }: ListedTransaction) => ({
      time: timeMs,
      user,
      action: renderAction(action),
      block,
      hash,
      error,
    }),
  },
  exchangeStatus: {
    provenance: 'specified',
    source: `${client}, ExchangeStatusResponse`,
    proves: ['the exchange tells its time'],
    body: (time: number) => ({ time, specialStatuses: null }),
  },
  preTransferCheck: {
    provenance: 'specified',
    source: `${client}, PreTransferCheckResponse`,
    proves: ['what a first transfer to an account takes is told before it'],
    body: (exists: boolean) => ({
      fee: exists ? '0.0' : '1.0',
      isSanctioned: false,
      userExists: exists,
      userHasSentTx: exists,
    }),
  },
  mode: {
    provenance: 'specified',
    source: `${client}, UserAbstractionResponse`,
    proves: ['an account that set no mode keeps its sides apart'],
    body: 'default',
  },
  perpsState: {
    provenance: 'specified',
    source: `${client}, ClearinghouseStateResponse`,
    proves: ['what an account can take out of its perps part is told'],
    body(withdrawable: string, time: number) {
      const summary = {
        accountValue: withdrawable,
        totalNtlPos: '0.0',
        totalRawUsd: withdrawable,
        totalMarginUsed: '0.0',
      }
      return {
        marginSummary: summary,
        crossMarginSummary: summary,
        crossMaintenanceMarginUsed: '0.0',
        withdrawable,
        assetPositions: [],
        time,
      }
    },
  },
  spotState: {
    provenance: 'specified',
    source: `${client}, SpotClearinghouseStateResponse`,
    proves: ['what an account has of tokens is told by symbol'],
    body: (held: readonly { readonly coin: string; readonly token: number; readonly total: string }[]) => ({
      balances: held.map((one) => ({ ...one, hold: '0.0', entryNtl: '0.0' })),
    }),
  },
  taken: {
    provenance: 'specified',
    source: `${client}, SuccessResponse of actions that answer nothing else`,
    proves: ['an action that is taken is ok'],
    body: { status: 'ok', response: { type: 'default' } },
  },
  refusedAction: {
    provenance: 'constructed',
    source: `${client}, ErrorResponse, with texts that we made up`,
    proves: ['an action that is refused has a reason'],
    body: (response: string) => ({ status: 'err', response }),
  },
  failure: {
    provenance: 'constructed',
    source: `${client}, ExplorerTransactionSchema, with a text that we made up`,
    proves: ['a transaction that failed has a text as its error'],
    body: 'Insufficient balance',
  },
  missing: {
    provenance: 'constructed',
    source: 'the published type has no word for it',
    proves: ['a transaction that does not exist is null'],
    body: null,
  },
  refusals: {
    provenance: 'constructed',
    source: 'the exchange for the text of the daily limit; the other texts are ours',
    proves: [
      'a refusal told with status 200 is no answer',
      'the text of the daily limit sends a question to the proxy',
    ],
    body: {
      archived: { type: 'error', message: 'More than 100 archived blocks queried in one day' },
      unknownQuestion: { type: 'error', message: 'Failed to deserialize the JSON body into the target type' },
    },
  },
} satisfies Readonly<Record<string, StoredBody>>

/** An action as the exchange shows it; other actions than transfers are shown as they are. */
function renderAction(action: ListedTransaction['action']): object {
  const signatureChainId = '0xa4b1'
  if (!('destination' in action)) return action
  if (action.type === 'UsdSend') {
    return { ...action, signatureChainId, type: 'usdSend', time: Number(action.time) }
  }
  return { ...action, signatureChainId, type: 'sendAsset', nonce: Number(action.nonce) }
}
