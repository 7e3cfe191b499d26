import type { Hex } from '@causeway/core'
import {
  ConfigurationError,
  DomainError,
  hexDigits,
  hexToBytes,
  UpstreamUnavailableError,
} from '@causeway/core'
import { type BitcoinNetwork, bitcoinNetworkOf } from '@causeway/core/encodings'
import { z } from 'zod'
import type { DepositAddressing } from '../../../rules/depositAddressing.ts'
import type { EncodedTransaction, StepIdentity } from '../../../rules/encodedStep.ts'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import type {
  Funding,
  KnownState,
  PlannedTransaction,
  SpendableOutput,
} from '../../../rules/plannedTransaction.ts'
import type { ChainQuoting, QuotingFamily } from '../../../rules/quotingFamily.ts'
import { bitcoinDepositAddress, bitcoinDepositName, isSweeper } from '../depositAddress.ts'
import { encodePsbt, type ShownInput } from '../psbt.ts'
import { orderScript, outputScript } from '../script.ts'
import { type BitcoinOutput, outPointText, satoshiMax } from '../transaction.ts'
import { BitcoinFees } from './bitcoinFees.ts'
import { fundPayment } from './fundTransaction.ts'
import { type OwnerKey, ownerKeyOf } from './ownerKey.ts'
import { inputKindOf, showsTransaction } from './virtualSize.ts'

/**
 * Step data as the public client takes it: an unsigned PSBT in hex; or, for a deposit address, the address to pay from
 * any wallet, the satoshi, and the script by which the depositor can take them back. @source rule F-138
 */
const bitcoinStepData = z.union([
  z.object({ psbt: z.string() }),
  z.object({ to: z.string(), value: z.string(), script: z.string().optional() }),
])

/** Wallets may raise the fee. @source BIP 125 */
const replaceableSequence = 0xffff_fffd

/** Users for whom clients ask prices before a wallet is connected. @source npm: relay-sdk from 6, and before */
const placeholderUsers = ['34xp4vRoCGJym3xR7yCVPFHoCNxv4Twseo', 'bc1q4vxn43l44h30nkluqfxd9eckf45vr2awz38lwa']

/** The user's outputs do not pay for the deposit and its fee. */
export class BitcoinFundsError extends DomainError {
  readonly code = 'INSUFFICIENT_FUNDS'
  readonly kind = 'invalid_request'

  /** @param least satoshi: smaller outputs were left out. `isOfTooMany`: others were, for their number */
  constructor({ spendable, needed, isOfTooMany }: Extract<Funding, { kind: 'short' }>, least: bigint) {
    const [has, wants] = [`${spendable} satoshi`, `${needed} satoshi with its network fee`]
    super(
      isOfTooMany
        ? `All outputs that one transaction of user can spend hold ${has}; the deposit needs ${wants}: join outputs first.`
        : `The confirmed outputs of user that are worth spending hold ${has}; the deposit needs ${wants}.${
            least > 0n ? ` Below ${least} satoshi each (additionalData.minimumOutput) none counts.` : ''
          }`,
      { data: { field: 'amount', availableAmount: spendable.toString(), neededAmount: needed.toString() } },
    )
  }
}

/**
 * Bitcoin in quotes. A user signs one transaction that spends his own outputs: it pays the depository, names the
 * order by OP_RETURN, and returns the change to him. @source rule F-137
 */
export const bitcoinQuoting = {
  feeModel: 'feerate',
  // The setting of the quote file that gives a chain deposit addresses.
  addressSetting: 'depositAddressKey',
  // No address belongs to the network itself: outputs that anybody can spend have no address.
  reserved: () => undefined,
  // Accounts that nobody holds, so that nothing is refunded to them.
  burnt: placeholderUsers,
  stepData: bitcoinStepData,
  bind: ({
    chainKey,
    codec,
    network: name,
    depository,
    depositAddressKey,
    leastOutput = 0n,
  }): ChainQuoting => {
    if (depositAddressKey !== undefined && !isSweeper(depositAddressKey))
      throw new ConfigurationError(`quote: chains.${chainKey}.depositAddressKey is no public key`)
    const network = bitcoinNetworkOf(name)
    const settings = { network, leastOutput, depository: () => outputScript(depository, network) }
    return {
      isNobody: (address) => address === codec.nativeCurrency || placeholderUsers.includes(address),
      canSign: (address) => inputKindOf(outputScript(address, network)) !== undefined,
      amountMax: () => satoshiMax,
      // No account has code: fills run no calls, and no payment is refused for the recipient's code.
      runsCalls: false,
      paysTokensToCode: true,
      depositAddresses: depositAddressKey && addressesBy(depositAddressKey, network),
      // Routes that users execute alone get a price, but no quote: no `call` of a step would identify them.
      tellsCallsApart: false,
      // Orders name their solver under another chain, since accounts of this family are no 20-byte keys.
      namesSolvers: false,
      hexAddress: () => {
        throw new Error('accounts of this family are no 20 bytes')
      },
      // No payment needs an allowance, and no cost depends on balances that are read before pricing.
      spenderOf: () => undefined,
      touched: () => [],
      plan: (route, state) => [plan(route, state, settings)],
      encode: (planned, route, { identity }) => encode(planned, route, { ...settings, identity }),
      // No money is swapped on its way from a deposit address: the one currency goes into the depository.
      addressSwap: () => undefined,
      encodeAddressSwap: () => {
        throw new Error('nothing is swapped on this family')
      },
    }
  },
} satisfies QuotingFamily

/** Time of twelve blocks, within which a transaction at the market's fee is mined. */
const sweepSeconds = 7_200

function addressesBy(sweeper: Hex, network: BitcoinNetwork): DepositAddressing {
  return {
    make: ({ orderSigner, depositor, nonce }) =>
      bitcoinDepositAddress({ orderSigner, sweeper, depositor, nonce }, network),
    nameOf: (address) => bitcoinDepositName(address, network),
    sweepSeconds,
    // With less time before its deadline an order is not paid: a sweep needs its time, and the fill a minute.
    leadSeconds: sweepSeconds + 60,
    // The depositor can take the money back only after a month, so the quote's price holds until the sweep.
    isKeptWhileSwept: true,
    // A sweep's deposit is credited to the fill wallet, whose input is the first, not to the depositor.
    creditsDepositor: false,
  }
}

/** Stands for the order id until there is one: planning needs only the script's length. */
const noOrder: Hex = `0x${'0'.repeat(64)}`
let knownNoOrderScript: Uint8Array | undefined

function noOrderScript(): Uint8Array {
  knownNoOrderScript ??= orderScript(noOrder)
  return knownNoOrderScript
}

/** Settings of one chain that its transactions depend on. */
type Settings = {
  readonly network: BitcoinNetwork
  /** Script of the depository; derived only when it is needed. */
  readonly depository: () => Uint8Array
  /** Satoshi: by default, outputs of less are not spent. */
  readonly leastOutput: bigint
}

/**
 * Satoshi of the smallest output that may be spent. Small outputs may carry tokens and inscriptions, which a payment
 * would lose, or be dust that others sent. @source F-97
 */
const leastOf = ({ outputChoice }: OriginRoute, { leastOutput }: Settings): bigint =>
  outputChoice?.least ?? leastOutput

/**
 * Plans the user's one transaction: which outputs it spends, and its fee. If outputs are unknown or too few,
 * `funding` says so and a price is still shown; `encode` refuses the step then.
 */
function plan(route: OriginRoute, { spendable, fees }: KnownState, settings: Settings): PlannedTransaction {
  const { network, depository } = settings
  // Any wallet may pay a deposit address, so the user's own outputs do not matter.
  if (route.by === 'pay-address') return { kind: 'pay-address', isNative: true }
  const kind = kindOf(route)
  const planned = { kind, isNative: true }
  if (spendable === undefined) return { ...planned, funding: { kind: 'unknown' } }
  if (!(fees instanceof BitcoinFees)) throw new Error('a step is paid by fees of its own family')
  const userScript = outputScript(route.user, network)
  const inputKind = inputKindOf(userScript)
  if (inputKind === undefined) throw new Error('nobody signs for this account')
  const paid = kind === 'deposit' ? [depository(), noOrderScript()] : [outputScript(route.recipient, network)]
  const least = leastOf(route, settings)
  const excluded = new Set(route.outputChoice?.excluded)
  const offered = spendable.filter((output) => output.value >= least && !excluded.has(outPointText(output)))
  const funding = fundPayment(offered, { amount: route.amountIn, paid, change: userScript, inputKind, fees })
  return funding.kind === 'chosen'
    ? { ...planned, funding, networkFee: funding.fee }
    : { ...planned, funding }
}

/** Both ways of depositing are one transaction here. @throws Error for ways that this family does not have */
function kindOf({ by, swap }: OriginRoute): 'deposit' | 'send-input' {
  if (by === 'send') return 'send-input'
  if ((by === 'deposit' || by === 'deposit-transfer') && swap === undefined) return 'deposit'
  throw new Error(`nothing is deposited by ${by} on this family`)
}

/**
 * Step data of a planned transaction.
 * @throws BitcoinFundsError; UpstreamUnavailableError where the user's outputs were not read in time;
 * OwnerKeyError for a key that is missing or another one; Error for what was planned from another route
 */
function encode(
  { kind, funding }: PlannedTransaction,
  route: OriginRoute,
  { identity, ...settings }: Settings & { readonly identity: StepIdentity },
): EncodedTransaction {
  if (kind === 'pay-address') return { data: addressData(identity, route.amountIn), call: undefined }
  if (funding === undefined) throw new Error('it was planned by another family')
  if (funding.kind === 'unknown')
    throw new UpstreamUnavailableError('The outputs of user could not be read in time.')
  if (funding.kind === 'short') throw new BitcoinFundsError(funding, leastOf(route, settings))
  const userScript = outputScript(route.user, settings.network)
  const owner = ownerKeyOf(userScript, route.userPublicKey)
  const outputs = [...paidOutputs(kind, route, { ...settings, orderId: identity.orderId })]
  if (funding.change > 0n) outputs.push({ script: userScript, value: funding.change })
  const inputs = funding.inputs.map(({ txid, vout }) => ({
    txid,
    vout,
    sequence: replaceableSequence,
    scriptSig: unsigned,
    witness: [],
  }))
  const psbt = encodePsbt(
    { version: 2, inputs, outputs, lockTime: 0 },
    funding.inputs.map((output) => shownOf(output, owner)),
  )
  return { data: { psbt: hexDigits(psbt) } satisfies z.infer<typeof bitcoinStepData>, call: undefined }
}

/** Outputs of a transaction without its change. @throws Error for another kind, and for a deposit without an order */
function paidOutputs(
  kind: PlannedTransaction['kind'],
  { recipient, amountIn: value }: OriginRoute,
  { network, depository, orderId }: Settings & { readonly orderId: Hex | undefined },
): readonly BitcoinOutput[] {
  if (kind === 'send-input') return [{ script: outputScript(recipient, network), value }]
  if (kind !== 'deposit' || orderId === undefined) throw new Error(`no ${kind} is encoded on this family`)
  return [
    { script: depository(), value },
    { script: orderScript(orderId), value: 0n },
  ]
}

/** @throws Error where the request has no address */
function addressData({ depositAddress, depositScript }: StepIdentity, value: bigint) {
  if (depositAddress === undefined) throw new Error('there is no address to pay')
  const script = depositScript === undefined ? {} : { script: depositScript }
  const data = { to: depositAddress, value: value.toString(), ...script }
  return data satisfies z.infer<typeof bitcoinStepData>
}

/** Script of an input that nobody has signed yet. */
const unsigned = new Uint8Array()

/** Data that the PSBT shows about one input. @throws Error where the transaction that the input must show was not read */
function shownOf({ value, script: spent, transaction }: SpendableOutput, owner: OwnerKey): ShownInput {
  const script = hexToBytes(spent)
  const witnessed = owner.kind === 'witness' && { witnessUtxo: { script, value }, ...owner.shown }
  if (!showsTransaction(inputKindOf(script))) return { ...witnessed }
  if (transaction === undefined) throw new Error('an input shows the transaction that it spends from')
  return { nonWitnessUtxo: hexToBytes(transaction), ...witnessed }
}
