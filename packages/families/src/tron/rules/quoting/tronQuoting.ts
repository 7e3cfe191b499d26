import type { Hex } from '@causeway/core'
import { DomainError, exactNumber, minBigint } from '@causeway/core'
import { createTronCodec, tronHexAddress as hexAddress, tronAddress } from '@causeway/core/encodings'
import { z } from 'zod'
import {
  encodeApprove,
  encodeDepositErc20,
  encodeDepositNative,
  encodeTransfer,
} from '../../../ethereum/rules/abi.ts'
import { orderedTransactions, spenderOf } from '../../../ethereum/rules/quoting/planTransactions.ts'
import { FeeFundsError } from '../../../rules/feeFunds.ts'
import type {
  ChainQuoting,
  ChainSettings,
  EncodedTransaction,
  KnownState,
  OriginRoute,
  PlannedTransaction,
  QuotingFamily,
  StepIdentity,
  UserTransactionKind,
} from '../../../rules/quotingFamily.ts'
import { TronFees } from './tronFees.ts'

/** A call of a contract, as the public client's adapter hands it to a node: addresses in hex. @source families.md 2.3 */
const tronStepData = z.object({
  type: z.literal('TriggerSmartContract'),
  parameter: z.object({
    owner_address: z.string(),
    contract_address: z.string(),
    data: z.string(),
    call_value: z.number().optional(),
  }),
})

/** The public client prices for this account before a wallet is connected. @source families.md 1 */
const clientsNobody = 'THa7BwoPfacfiELa63pbmm3g5PGKYmtJyt'

/** Nodes take coin as JSON numbers. */
export const coinMax = BigInt(Number.MAX_SAFE_INTEGER)
const tokenMax = 2n ** 256n - 1n

/** Fee limit that the public client's adapter sets for a transaction. @source rule F-129 */
export const feeLimitSun = 30_000_000n

/** Networks of the family put precompiles below it. @source java-tron, PrecompiledContracts */
const precompilesMax = 0x1ffffffn
/** Burns what it gets. @source tronscan, "Black hole" */
const blackHole = 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'

function reserved(account: string): string | undefined {
  if (account === blackHole) return 'an account whose coin is burnt'
  const { isAddress } = createTronCodec()
  return isAddress(account) && BigInt(hexAddress(account)) <= precompilesMax ? 'a precompile' : undefined
}

/**
 * Energy costs so much that a step would run out of it, and burn its limit for nothing. Staked energy does not help: the
 * fee limit bounds what a call may use, whoever it is of. @source java-tron, VMActuator
 */
export class TronFeeLimitError extends DomainError {
  readonly code = 'GAS_PRICE_TOO_HIGH'
  readonly kind = 'upstream_unavailable'

  constructor({ neededSun, sunPerEnergy }: { readonly neededSun: bigint; readonly sunPerEnergy: bigint }) {
    super(
      `A step would burn ${neededSun} sun for its energy, at ${sunPerEnergy} each; wallets allow ${feeLimitSun}.`,
      { data: { neededSun: neededSun.toString(), limitSun: feeLimitSun.toString() }, retryAfterSeconds: 60 },
    )
  }
}

/** Transactions of users; all of them call a contract, except plain transfers of coin. */
const sent: ReadonlySet<UserTransactionKind> = new Set([
  'reset-approval',
  'approve',
  'deposit',
  'deposit-transfer',
  'send-input',
])

/**
 * The family with the contracts of the EVM's, called by transactions of its own: an allowance where a token needs one,
 * and the deposit. @source families.md 2.3, 5.3
 */
export const tronQuoting = {
  feeModel: 'energy',
  reserved,
  burnt: [clientsNobody, createTronCodec().nativeCurrency],
  accountOfHex: (hex) => tronAddress(hex),
  stepData: tronStepData,
  bind: (settings): ChainQuoting => ({
    isNobody: (address) => address === settings.codec.nativeCurrency || address === clientsNobody,
    canSign: () => true,
    amountMax: ({ isNative }) => (isNative ? coinMax : tokenMax),
    runsCalls: false,
    paysTokensToCode: true,
    tellsCallsApart: false,
    // The hub spells accounts of this family in another way than the key that signs orders does.
    namesSolvers: false,
    hexAddress,
    spenderOf: (kind, currency) => (kind === 'deposit' ? spenderOf(settings, kind, currency) : undefined),
    touched: () => [],
    plan: (route, state) => plan(settings, route, state),
    encode: (planned, route, { identity }) => encode(settings, planned, route, identity),
    addressSwap: () => undefined,
    encodeAddressSwap: () => {
      throw new Error('this family has no deposit addresses')
    },
  }),
} satisfies QuotingFamily

/** @throws TronFeeLimitError */
function plan(settings: ChainSettings, route: OriginRoute, state: KnownState): readonly PlannedTransaction[] {
  const planned = orderedTransactions(settings, route, state)
  for (const transaction of planned) {
    if (!sent.has(transaction.kind)) throw new Error(`nothing is deposited by ${route.by} on this family`)
    checkFeeLimit(transaction, state.fees)
  }
  return feesOf(planned, route, state)
}

/**
 * Energy beyond the user's own is burnt; bytes are reckoned as burnt in any case, since nobody knows which of the day
 * are left when he sends. @source F-98
 */
function feesOf(
  planned: readonly PlannedTransaction[],
  { currencyIn, by }: OriginRoute,
  { fees, feeFunds }: KnownState,
): readonly PlannedTransaction[] {
  if (feeFunds === undefined || !(fees instanceof TronFees) || by === 'pay-address') return planned
  let [left, burntSun] = [feeFunds.units ?? 0n, 0n]
  const charged = planned.map((transaction): PlannedTransaction => {
    const use = fees.useOf(transaction)
    const own = minBigint(left, use.energy)
    left -= own
    const energy = use.energy - own
    burntSun += energy * fees.sunPerEnergy
    return { ...transaction, networkFee: fees.burntFor({ energy, bytes: use.bytes }) }
  })
  // A balance of the input itself is told as such, by every quote.
  if (currencyIn.isNative || feeFunds.coin >= burntSun) return charged
  const refusal = new FeeFundsError('user', feeFunds, burntSun, 'sun')
  return charged.map((transaction) => ({ ...transaction, refusal }))
}

function checkFeeLimit(transaction: PlannedTransaction, fees: KnownState['fees']): void {
  if (fees === undefined) return
  if (!(fees instanceof TronFees)) throw new Error('a step is paid by fees of its own family')
  const { sunPerEnergy } = fees
  const neededSun = fees.useOf(transaction).energy * sunPerEnergy
  if (neededSun > feeLimitSun) throw new TronFeeLimitError({ neededSun, sunPerEnergy })
}

type Call = { readonly to: string; readonly data: Hex; readonly coin: bigint }

/** @throws Error for what was planned from another route, and for what users do alone: it is priced only */
function encode(
  settings: ChainSettings,
  planned: PlannedTransaction,
  route: OriginRoute,
  { orderId }: StepIdentity,
): EncodedTransaction {
  const { to, data, coin } = callOf(settings, { ...planned, route, orderId })
  const step: z.infer<typeof tronStepData> = {
    type: 'TriggerSmartContract',
    parameter: {
      owner_address: nodeAddress(route.user),
      contract_address: nodeAddress(to),
      data: data.slice(2),
      ...(coin > 0n && { call_value: exactNumber(coin) }),
    },
  }
  return { data: step, call: undefined }
}

function callOf(
  { depository }: ChainSettings,
  planned: Pick<PlannedTransaction, 'kind' | 'spender' | 'allowed'> & {
    readonly route: OriginRoute
    readonly orderId: Hex | undefined
  },
): Call {
  const { kind, spender, allowed, orderId, route } = planned
  const { user, currencyIn, amountIn } = route
  const { address: token, isNative } = currencyIn
  if (spender !== undefined && allowed !== undefined) {
    return { to: token, data: encodeApprove(hexAddress(spender), allowed), coin: 0n }
  }
  if (orderId === undefined) throw new Error(`no ${kind} is encoded on this family`)
  switch (kind) {
    case 'deposit':
      if (isNative)
        return { to: depository, data: encodeDepositNative(hexAddress(user), orderId), coin: amountIn }
      return {
        to: depository,
        data: encodeDepositErc20(hexAddress(user), hexAddress(token), amountIn, orderId),
        coin: 0n,
      }
    case 'deposit-transfer':
      return {
        to: token,
        data: `${encodeTransfer(hexAddress(depository), amountIn)}${orderId.slice(2)}`,
        coin: 0n,
      }
    default:
      throw new Error(`no ${kind} is encoded on this family`)
  }
}

/** 21 bytes of hex, as nodes read accounts. @throws InvalidAddressError */
export function nodeAddress(address: string): string {
  return `41${hexAddress(address).slice(2)}`
}
