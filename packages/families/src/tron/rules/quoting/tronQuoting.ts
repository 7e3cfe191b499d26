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
import type { EncodedTransaction, StepIdentity } from '../../../rules/encodedStep.ts'
import { FeeFundsError } from '../../../rules/feeFunds.ts'
import type { UserTransactionKind } from '../../../rules/networkFees.ts'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import type { KnownState, PlannedTransaction } from '../../../rules/plannedTransaction.ts'
import type { ChainQuoting, ChainSettings, QuotingFamily } from '../../../rules/quotingFamily.ts'
import { TronFees } from './tronFees.ts'

/**
 * Step data: a contract call as the client passes it to a node, addresses in hex.
 * @source github.com/relayprotocol/relay-kit, relay-tron-wallet-adapter
 */
const tronStepData = z.object({
  type: z.literal('TriggerSmartContract'),
  parameter: z.object({
    owner_address: z.string(),
    contract_address: z.string(),
    data: z.string(),
    call_value: z.number().optional(),
  }),
})

/**
 * User for whom clients ask prices before a wallet is connected.
 * @source github.com/relayprotocol/relay-kit, tronDeadAddress
 */
const placeholderUser = 'THa7BwoPfacfiELa63pbmm3g5PGKYmtJyt'

/** Largest amount of TRX, in sun (millionths): nodes read it as a JSON number. */
export const coinMax = BigInt(Number.MAX_SAFE_INTEGER)
const tokenMax = 2n ** 256n - 1n

/** Fee limit that the public client's adapter sets for a transaction. @source rule F-129 */
export const feeLimitSun = 30_000_000n

/** Highest address of precompiles. @source java-tron, PrecompiledContracts */
const precompilesMax = 0x1ffffffn
/** Account whose coin is burnt. @source tronscan, "Black hole" */
const blackHole = 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'

function reserved(account: string): string | undefined {
  if (account === blackHole) return 'an account whose coin is burnt'
  const { isAddress } = createTronCodec()
  return isAddress(account) && BigInt(hexAddress(account)) <= precompilesMax ? 'a precompile' : undefined
}

/**
 * At the price of energy a step would exceed the fee limit that wallets set: it would fail and burn the limit. Staked
 * energy does not help, because the limit bounds all energy of a call. @source java-tron, VMActuator
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

/** Kinds of transactions that users of this family send. */
const userKinds: ReadonlySet<UserTransactionKind> = new Set([
  'reset-approval',
  'approve',
  'deposit',
  'deposit-transfer',
  'send-input',
])

/**
 * Tron in quotes. Its contracts are those of the EVM families, called by Tron's own transactions: an allowance if a
 * token needs one, and the deposit.
 */
export const tronQuoting = {
  feeModel: 'energy',
  reserved,
  // Accounts that nobody holds, so that nothing is refunded to them.
  burnt: [placeholderUser, createTronCodec().nativeCurrency],
  accountOfHex: (hex) => tronAddress(hex),
  stepData: tronStepData,
  bind: (settings): ChainQuoting => ({
    isNobody: (address) => address === settings.codec.nativeCurrency || address === placeholderUser,
    // An address does not tell whether it belongs to a key or a contract.
    canSign: () => true,
    amountMax: ({ isNative }) => (isNative ? coinMax : tokenMax),
    // Fills run no calls, though contracts can be paid.
    runsCalls: false,
    paysTokensToCode: true,
    // Routes that users execute alone get a price, but no quote: no `call` of a step would identify them.
    tellsCallsApart: false,
    // Orders name their solver under another chain: on the hub this family's accounts are no 20-byte keys.
    namesSolvers: false,
    hexAddress,
    // Users swap nothing here and use no Permit2, so only a deposit takes an allowance.
    spenderOf: (kind, currency) => (kind === 'deposit' ? spenderOf(settings, kind, currency) : undefined),
    // No cost depends on balances that would have to be read before pricing.
    touched: () => [],
    plan: (route, state) => plan(settings, route, state),
    encode: (planned, route, { identity }) => encode(settings, planned, route, identity),
    addressSwap: () => undefined,
    encodeAddressSwap: () => {
      throw new Error('this family has no deposit addresses')
    },
  }),
} satisfies QuotingFamily

/** The user's transactions in order, with their fees. @throws TronFeeLimitError */
function plan(settings: ChainSettings, route: OriginRoute, state: KnownState): readonly PlannedTransaction[] {
  const planned = orderedTransactions(settings, route, state)
  for (const transaction of planned) {
    if (!userKinds.has(transaction.kind))
      throw new Error(`nothing is deposited by ${route.by} on this family`)
    checkFeeLimit(transaction, state.fees)
  }
  return chargeFees(planned, route, state)
}

/**
 * Adds each transaction's fee if the user's funds are known, and refuses all if his coin does not pay for the energy.
 * Only energy beyond his own is burnt. Bytes always count as burnt, because his free bytes when he sends are not
 * known.
 * @source F-98
 */
function chargeFees(
  planned: readonly PlannedTransaction[],
  { currencyIn }: OriginRoute,
  { fees, feeFunds }: KnownState,
): readonly PlannedTransaction[] {
  if (feeFunds === undefined || !(fees instanceof TronFees)) return planned
  let [ownEnergyLeft, burntSun] = [feeFunds.units ?? 0n, 0n]
  const charged = planned.map((transaction): PlannedTransaction => {
    const use = fees.useOf(transaction)
    const ownEnergy = minBigint(ownEnergyLeft, use.energy)
    ownEnergyLeft -= ownEnergy
    const energy = use.energy - ownEnergy
    burntSun += energy * fees.sunPerEnergy
    return { ...transaction, networkFee: fees.burntFor({ energy, bytes: use.bytes }) }
  })
  // If the input is TRX, its balance is checked elsewhere.
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

/** A contract call of the user; `coin` in sun. */
type Call = { readonly to: string; readonly data: Hex; readonly coin: bigint }

/** Step data of a planned transaction. @throws Error for another route's, and for sends, which are only priced */
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
  // Both are members of approvals only.
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

/** An account as nodes read it: 21 bytes of hex without `0x`. @throws InvalidAddressError */
export function nodeAddress(address: string): string {
  return `41${hexAddress(address).slice(2)}`
}
