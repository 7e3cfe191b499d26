import type { Hex } from '@causeway/core'
import {
  type AbiMember,
  AbiReader,
  AbiWords,
  abiBytes,
  abiUint,
  bytesToHex,
  encodeAbiTuple,
  hashText,
  keccak256,
  typeHash,
  utf8Bytes,
} from '@causeway/core'
import { decodeAbiWithdrawal } from '../../rules/withdrawalBytes.ts'

/** Withdrawal of perps USDC. Texts are spelled as in the exchange's action. */
export type UsdSend = {
  readonly type: 'UsdSend'
  /** `Mainnet` or `Testnet`. */
  readonly hyperliquidChain: string
  readonly destination: string
  /** Decimal number. */
  readonly amount: string
  /** Milliseconds; the nonce of the action. */
  readonly time: bigint
}

/** Withdrawal of a token of one dex; see `UsdSend`. */
export type SendAsset = {
  readonly type: 'SendAsset'
  readonly hyperliquidChain: string
  readonly destination: string
  /** `spot`, empty for the first perps dex, or the name of another. */
  readonly sourceDex: string
  readonly destinationDex: string
  /** `SYMBOL:0x…` */
  readonly token: string
  readonly amount: string
  readonly fromSubAccount: string
  readonly nonce: bigint
}

export type HyperliquidWithdrawal = UsdSend | SendAsset

const typeHashes = {
  UsdSend: typeHash(
    'HyperliquidTransaction:UsdSend(string hyperliquidChain,string destination,string amount,uint64 time)',
  ),
  SendAsset: typeHash(
    'HyperliquidTransaction:SendAsset(string hyperliquidChain,string destination,string sourceDex,string destinationDex,string token,string amount,string fromSubAccount,uint64 nonce)',
  ),
}
const typeNumbers = { UsdSend: 0n, SendAsset: 1n }
const uint64Max = 2n ** 64n - 1n

/**
 * EIP-712 struct hash of the action, without a domain.
 * @throws RangeError when the nonce is not a uint256
 * @source github.com/relayprotocol/relay-settlement, withdrawals/hyperliquid-vm.ts
 */
export function hyperliquidWithdrawalId(withdrawal: HyperliquidWithdrawal): Hex {
  const { texts, nonce } = membersOf(withdrawal)
  const words = new AbiWords(texts.length + 2).word(typeHashes[withdrawal.type])
  for (const text of texts) words.word(hashText(text))
  return bytesToHex(keccak256(words.uint(nonce).done()))
}

/** ABI encoding of the action's type and parameters. @throws RangeError when the nonce is not a uint256 */
export function encodeHyperliquidWithdrawal(withdrawal: HyperliquidWithdrawal): Hex {
  const { texts, nonce } = membersOf(withdrawal)
  const members: AbiMember[] = texts.map((text) => abiBytes(utf8Bytes(text)))
  const parameters = encodeAbiTuple([{ tail: encodeAbiTuple([...members, abiUint(nonce)]) }])
  const action = encodeAbiTuple([abiUint(typeNumbers[withdrawal.type]), abiBytes(parameters)])
  return bytesToHex(encodeAbiTuple([{ tail: action }]))
}

/** Reads what `encodeHyperliquidWithdrawal` writes and nothing else. @throws InvalidWithdrawalError */
export function decodeHyperliquidWithdrawal(withdrawal: Hex): HyperliquidWithdrawal {
  const form = { what: 'a send action', read, encode: encodeHyperliquidWithdrawal }
  return decodeAbiWithdrawal(withdrawal, form)
}

/**
 * Reads without checks of offsets and of an unknown type, which is read as `SendAsset`: `decodeAbiWithdrawal`
 * encodes the result again and refuses bytes that differ. Skipped words are offsets.
 */
function read(outer: AbiReader): HyperliquidWithdrawal | undefined {
  const type = outer.skipWords(1).uint()
  const reader = new AbiReader(outer.skipWords(1).bytes())
  const withdrawal = type === typeNumbers.UsdSend ? readUsdSend(reader) : readSendAsset(reader)
  return reader.isDone && membersOf(withdrawal).nonce <= uint64Max ? withdrawal : undefined
}

function readUsdSend(reader: AbiReader): UsdSend {
  const time = reader.skipWords(4).uint()
  const [hyperliquidChain, destination, amount] = [reader.text(), reader.text(), reader.text()]
  return { type: 'UsdSend', hyperliquidChain, destination, amount, time }
}

function readSendAsset(reader: AbiReader): SendAsset {
  const nonce = reader.skipWords(8).uint()
  const text = () => reader.text()
  // Read in the order in which they are encoded.
  return {
    type: 'SendAsset',
    hyperliquidChain: text(),
    destination: text(),
    sourceDex: text(),
    destinationDex: text(),
    token: text(),
    amount: text(),
    fromSubAccount: text(),
    nonce,
  }
}

/** Text members in the order of the action's EIP-712 type, and the nonce, which comes last. */
function membersOf(withdrawal: HyperliquidWithdrawal): { texts: readonly string[]; nonce: bigint } {
  const { hyperliquidChain, destination, amount } = withdrawal
  if (withdrawal.type === 'UsdSend') {
    return { texts: [hyperliquidChain, destination, amount], nonce: withdrawal.time }
  }
  const { sourceDex, destinationDex, token, fromSubAccount, nonce } = withdrawal
  const route = [sourceDex, destinationDex, token]
  return { texts: [hyperliquidChain, destination, ...route, amount, fromSubAccount], nonce }
}
