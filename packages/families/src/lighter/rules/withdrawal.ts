import type { Hex } from '@causeway/core'
import {
  AbiReader,
  abiBytes,
  abiUint,
  bytesToHex,
  encodeAbiTuple,
  fixedHexToBytes,
  keccak256Hex,
  utf8Bytes,
} from '@causeway/core'
import { lighterCurrency } from '@causeway/core/encodings'
import { decodeAbiWithdrawal, type WithdrawalTransfer } from '../../rules/withdrawalBytes.ts'

/** A withdrawal: one transfer on Lighter with the members of its L1 message. Numbers are uint64. */
export type LighterWithdrawal = {
  readonly nonce: bigint
  readonly fromAccountIndex: bigint
  /** Side of the account: 0 perps, 1 spot; so too `toRouteType`. */
  readonly fromRouteType: bigint
  readonly apiKeyIndex: bigint
  readonly toAccountIndex: bigint
  readonly toRouteType: bigint
  readonly assetIndex: bigint
  /** Smallest units of the asset. */
  readonly amount: bigint
  /** Millionths of a dollar. */
  readonly usdcFee: bigint
  readonly lighterChainId: bigint
  /** 32 bytes. */
  readonly memo: Hex
}

const transferAction = 0n
const uint64Max = 2n ** 64n - 1n

/**
 * Text that the account's L1 key signs for a transfer.
 * @throws RangeError when a number is not a uint64 or the memo not 32 bytes
 * @source github.com/relayprotocol/relay-settlement, withdrawals/lighter-vm.ts
 */
export function lighterTransferMessage(withdrawal: LighterWithdrawal): string {
  const { fromAccountIndex, fromRouteType, toAccountIndex, toRouteType } = withdrawal
  return [
    'Transfer',
    '',
    `nonce: ${hexNumber(withdrawal.nonce)}`,
    `from: ${hexNumber(fromAccountIndex)} (route ${hexNumber(fromRouteType)})`,
    `api key: ${hexNumber(withdrawal.apiKeyIndex)}`,
    `to: ${hexNumber(toAccountIndex)} (route ${hexNumber(toRouteType)})`,
    `asset: ${hexNumber(withdrawal.assetIndex)}`,
    `amount: ${hexNumber(withdrawal.amount)}`,
    `fee: ${hexNumber(withdrawal.usdcFee)}`,
    `chainId: ${hexNumber(withdrawal.lighterChainId)}`,
    `memo: ${bytesToHex(fixedHexToBytes(withdrawal.memo, 32)).slice(2)}`,
    'Only sign this message for a trusted client!',
  ].join('\n')
}

/**
 * Keccak-256 of the L1 message. See `lighterTransferMessage`.
 * @source github.com/relayprotocol/relay-settlement, withdrawals/lighter-vm.ts
 */
export function lighterWithdrawalId(withdrawal: LighterWithdrawal): Hex {
  return keccak256Hex(utf8Bytes(lighterTransferMessage(withdrawal)))
}

/** ABI encoding of the action and its parameters. @throws RangeError when a part does not fit its type */
export function encodeLighterWithdrawal(withdrawal: LighterWithdrawal): Hex {
  const parameters = encodeAbiTuple([
    ...numbersOf(withdrawal).map((value) => abiUint(uint64(value))),
    { word: fixedHexToBytes(withdrawal.memo, 32) },
  ])
  const action = encodeAbiTuple([abiUint(transferAction), abiBytes(parameters)])
  return bytesToHex(encodeAbiTuple([{ tail: action }]))
}

/** Reads what `encodeLighterWithdrawal` writes and nothing else. @throws InvalidWithdrawalError */
export function decodeLighterWithdrawal(withdrawal: Hex): LighterWithdrawal {
  return decodeAbiWithdrawal(withdrawal, { what: 'a transfer', read, encode: encodeLighterWithdrawal })
}

/**
 * The payment of a withdrawal: account and asset indices in decimal, perps USDC as the native currency.
 * @source rule F-160
 */
export function lighterWithdrawalTransfer(withdrawal: LighterWithdrawal): WithdrawalTransfer {
  const { assetIndex, fromRouteType, amount, toAccountIndex } = withdrawal
  return {
    currency: lighterCurrency(assetIndex, fromRouteType),
    amount,
    recipient: toAccountIndex.toString(),
  }
}

/** Skips offsets: `decodeAbiWithdrawal` encodes the result again and compares. Members are read in encoded order. */
function read(outer: AbiReader): LighterWithdrawal | undefined {
  outer.skipWords(3)
  const reader = new AbiReader(outer.bytes())
  const uint = () => reader.uint()
  const withdrawal = {
    nonce: uint(),
    fromAccountIndex: uint(),
    fromRouteType: uint(),
    apiKeyIndex: uint(),
    toAccountIndex: uint(),
    toRouteType: uint(),
    assetIndex: uint(),
    amount: uint(),
    usdcFee: uint(),
    lighterChainId: uint(),
    memo: reader.word(),
  }
  const isShaped = reader.isDone && numbersOf(withdrawal).every((value) => value <= uint64Max)
  return isShaped ? withdrawal : undefined
}

/** In the order of the encoding. */
function numbersOf(withdrawal: LighterWithdrawal): readonly bigint[] {
  const { nonce, fromAccountIndex, fromRouteType, apiKeyIndex, toAccountIndex, toRouteType } = withdrawal
  const { assetIndex, amount, usdcFee, lighterChainId } = withdrawal
  return [
    ...[nonce, fromAccountIndex, fromRouteType, apiKeyIndex, toAccountIndex, toRouteType],
    ...[assetIndex, amount, usdcFee, lighterChainId],
  ]
}

function uint64(value: bigint): bigint {
  if (value < 0n || value > uint64Max) throw new RangeError('the value is not a uint64')
  return value
}

function hexNumber(value: bigint): string {
  return `0x${uint64(value).toString(16).padStart(16, '0')}`
}
