import type { Hex } from '@causeway/core'
import { hexToBytes } from '@causeway/core'
import type { BitcoinNetwork } from '@causeway/core/encodings'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sweepSecret } from '../depositAddress.ts'
import { bitcoinLibrary } from '../library.ts'
import { virtualBytesOf } from '../quoting/virtualSize.ts'
import { encodeScript, orderScript, scriptAddress } from '../script.ts'
import {
  type BitcoinOutput,
  type BitcoinTransaction,
  bitcoinTransactionId,
  type OutPoint,
  signAll,
} from '../transaction.ts'
import { type PaymentTag, readPaymentTag } from './paymentTag.ts'

/**
 * Transactions of a fill wallet on Bitcoin form one line: the first input of each spends the first output of the one
 * before it, and its first output returns the change to the wallet. So two transactions that spend the same place of
 * the line exclude each other, and all mined transactions lie on one path. See decision 29.
 */

/** An output of the wallet and what it holds. */
export type OwnOutput = OutPoint & { readonly value: bigint }

/** A fill wallet of one key: its address is P2WPKH. */
export type LineWallet = {
  readonly key: Uint8Array
  readonly publicKey: Uint8Array
  readonly script: Uint8Array
  readonly address: string
}

/** @throws Error for what is no key of the curve */
export function lineWallet(key: Uint8Array, network: BitcoinNetwork): LineWallet {
  const publicKey = secp256k1.getPublicKey(key, true)
  const program = bitcoinLibrary().crypto.hash160(publicKey)
  const script = encodeScript({ kind: 'witness', version: 0, program })
  const address = scriptAddress(script, network)
  if (address === undefined) throw new Error('a key has an address')
  return { key, publicKey, script, address }
}

/** Outputs of one deposit address, which the wallet sweeps. @source depositAddress.ts */
export type SweptOutputs = {
  readonly script: Hex
  /** Nonce of the address: with the wallet's key it makes the key that the address's script names. */
  readonly nonce: Hex
  readonly outputs: readonly OwnOutput[]
}

/** Plan of one transaction of the line. */
export type LinePlan = {
  /** Current end of the line: the output that the transaction spends first. */
  readonly parent: OwnOutput
  /** Other outputs of the wallet that it takes into the line. */
  readonly gathered: readonly OwnOutput[]
  /** Outputs of a deposit address, and the script by which the wallet spends them. */
  readonly swept?: SweptOutputs | undefined
  readonly payments: readonly BitcoinOutput[]
  /** An OP_RETURN output has it as text, by which oracles attest a payment; absent where nothing is paid. */
  readonly orderId?: Hex | undefined
  /** Sequence and lock time, by which the wallet finds again which payment the transaction made or closed. */
  readonly tag: PaymentTag
}

export type LineTransaction = {
  readonly raw: Hex
  /** Display order. */
  readonly hash: string
  /** Value in satoshi of its first output, which is the next place of the line. */
  readonly left: bigint
}

const version = 2
/** Witness item that chooses the sweeper's branch in the script of a deposit address. @source depositAddress.ts */
const sweeperBranch = Uint8Array.of(1)
/** Replaceable, without a relative lock. @source BIP 68, BIP 125 */
const plainSequence = 0xffff_fffd

/**
 * Less than this is dust to nodes, and the line would end with it. @source Bitcoin Core, GetDustThreshold at 3 sat/vB
 */
export const lineDust = 294n

/** Virtual bytes that the transaction has at most: signatures differ by a byte. Pure. */
export const lineVirtualBytes = (wallet: LineWallet, plan: LinePlan): number =>
  virtualBytesOf({
    inputs: [
      ...[plan.parent, ...plan.gathered].map(() => 'witness' as const),
      ...(plan.swept?.outputs ?? []).map(() => 'deposit-address' as const),
    ],
    // 0 stands for the value of the first output: every value takes eight bytes.
    outputs: outputsOf(wallet, plan, 0n).map(({ script }) => script),
  })

/** Value that stays in the line after payments and the fee, in satoshi; negative if it does not suffice. Pure. */
export function lineLeft({ parent, gathered, swept, payments }: LinePlan, fee: bigint): bigint {
  const sum = (values: readonly { readonly value: bigint }[]) =>
    values.reduce((total, { value }) => total + value, 0n)
  return parent.value + sum(gathered) + sum(swept?.outputs ?? []) - sum(payments) - fee
}

/** @throws Error where less than dust would be left: nodes would refuse the output, with which the line goes on */
export function signLineTransaction(wallet: LineWallet, plan: LinePlan, fee: bigint): LineTransaction {
  const left = lineLeft(plan, fee)
  if (fee < 0n || left < lineDust) throw new Error('a transaction leaves its line nothing')
  const transaction = buildUnsigned(wallet, plan, left)
  const { key, publicKey } = wallet
  // Signatures for a witness of one key commit to the script of a plain payment to it. @source BIP 143
  const keyScript = bitcoinLibrary().payments.p2pkh({ pubkey: publicKey }).output
  if (keyScript === undefined) throw new Error('a key has a script')
  const walletInputs = [plan.parent, ...plan.gathered]
  for (const [index, { value }] of walletInputs.entries()) {
    const signature = signInput(transaction, { index, scriptCode: keyScript, value, key })
    transaction.setWitness(index, [signature, publicKey])
  }
  if (plan.swept !== undefined) {
    const scriptCode = hexToBytes(plan.swept.script)
    const sweepKey = sweepSecret(key, plan.swept.nonce)
    for (const [position, { value }] of plan.swept.outputs.entries()) {
      const index = walletInputs.length + position
      const signature = signInput(transaction, { index, scriptCode, value, key: sweepKey })
      transaction.setWitness(index, [signature, sweeperBranch, scriptCode])
    }
  }
  return { raw: `0x${transaction.toHex()}`, hash: transaction.getId(), left }
}

/** Signature of one input, over the whole transaction. `value`: satoshi of the output that the input spends. */
function signInput(
  transaction: ReturnType<typeof buildUnsigned>,
  input: {
    readonly index: number
    readonly scriptCode: Uint8Array
    readonly value: bigint
    readonly key: Uint8Array
  },
): Uint8Array {
  const digest = transaction.hashForWitnessV0(input.index, input.scriptCode, input.value, signAll)
  const signature = secp256k1.sign(digest, input.key, { lowS: true }).toCompactRawBytes()
  return bitcoinLibrary().script.signature.encode(signature, signAll)
}

function buildUnsigned(wallet: LineWallet, plan: LinePlan, left: bigint) {
  const { Transaction } = bitcoinLibrary()
  const transaction = new Transaction()
  transaction.version = version
  transaction.locktime = plan.tag.lockTime
  const spent = [plan.parent, ...plan.gathered, ...(plan.swept?.outputs ?? [])]
  for (const [index, { txid, vout }] of spent.entries()) {
    // The library takes ids in the byte order of transactions: the reverse of display order.
    const hash = Uint8Array.from(Buffer.from(txid, 'hex')).reverse()
    transaction.addInput(hash, vout, index === 0 ? plan.tag.sequence : plainSequence)
  }
  for (const { script, value } of outputsOf(wallet, plan, left)) transaction.addOutput(script, value)
  return transaction
}

const outputsOf = (
  wallet: LineWallet,
  { payments, orderId }: LinePlan,
  left: bigint,
): readonly BitcoinOutput[] => [
  { script: wallet.script, value: left },
  ...payments,
  ...(orderId === undefined ? [] : [{ script: orderScript(orderId), value: 0n }]),
]

/** One transaction of a line, as it was read from a chain. */
export type LineStep = {
  readonly hash: string
  /** The output that it spends first. */
  readonly parent: OutPoint
  /** Undefined for a chore, which pays and closes nothing. */
  readonly tag: PaymentTag | undefined
  /** As of `LineTransaction`. */
  readonly left: bigint
}

/** Undefined for a transaction that continues no line of this wallet: its first output does not pay it. Pure. */
export function readLineStep(
  transaction: BitcoinTransaction,
  { script }: Pick<LineWallet, 'script'>,
): LineStep | undefined {
  const [input] = transaction.inputs
  const [output] = transaction.outputs
  if (input === undefined || output === undefined || Buffer.compare(output.script, script) !== 0)
    return undefined
  return {
    hash: bitcoinTransactionId(transaction),
    parent: { txid: input.txid, vout: input.vout },
    tag: readPaymentTag(transaction),
    left: output.value,
  }
}
