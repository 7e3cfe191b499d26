import { type Hex, isAnyCaseHex32 } from '@causeway/core'
import { contractInterface } from './contractInterface.ts'

const token = contractInterface([
  'function approve(address spender, uint256 amount)',
  'function transfer(address to, uint256 amount)',
])
const depository = contractInterface([
  'function depositNative(address depositor, bytes32 id) payable',
  'function depositErc20(address depositor, address token, uint256 amount, bytes32 id)',
])
const weth9 = contractInterface(['function deposit() payable', 'function withdraw(uint256 amount)'])

/**
 * Encoders of the functions that steps of a quote call, with arguments in the order of the Solidity signature. All
 * throw RangeError on an address that is not 20 bytes, an id that is not 32 bytes, or an amount that is no uint256.
 * @source ERC-20; WETH9
 */
export function encodeApprove(spender: Hex, amount: bigint): Hex {
  return token.encode('approve', [spender, amount])
}

/** See `encodeApprove`. */
export function encodeTransfer(to: Hex, amount: bigint): Hex {
  return token.encode('transfer', [to, amount])
}

/** The deposited amount is the transaction's value. See `encodeApprove`. */
export function encodeDepositNative(depositor: Hex, id: Hex): Hex {
  return depository.encode('depositNative', [depositor, id])
}

/** See `encodeApprove`. */
export function encodeDepositErc20(depositor: Hex, deposited: Hex, amount: bigint, id: Hex): Hex {
  return depository.encode('depositErc20', [depositor, deposited, amount, id])
}

/** The wrapped amount is the transaction's value. */
export function encodeWethDeposit(): Hex {
  return weth9.encode('deposit', [])
}

/** See `encodeApprove`. */
export function encodeWethWithdraw(amount: bigint): Hex {
  return weth9.encode('withdraw', [amount])
}

const uint256Limit = 2n ** 256n
const addressPattern = /^0x[0-9a-fA-F]{40}$/
const addressPadding = '0'.repeat(24)

/** The address as one 32-byte ABI word: 64 hex digits without `0x`. @throws RangeError */
export function addressWord(address: Hex): string {
  if (!addressPattern.test(address)) throw new RangeError('an address must be 0x and 40 hex digits')
  return `${addressPadding}${address.slice(2).toLowerCase()}`
}

/** See `addressWord`. */
export function bytes32Word(bytes: Hex): string {
  if (!isAnyCaseHex32(bytes)) throw new RangeError('an id must be 0x and 64 hex digits')
  return bytes.slice(2).toLowerCase()
}

/** See `addressWord`. */
export function uintWord(value: bigint): string {
  if (value < 0n || value >= uint256Limit) throw new RangeError('an amount must be a uint256')
  return value.toString(16).padStart(64, '0')
}
