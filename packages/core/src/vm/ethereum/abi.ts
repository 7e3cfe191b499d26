import type { Hex } from '../../hex.ts'

/**
 * Calldata of the few functions that quote steps call, by padding strings: this runs for every quote.
 * Arguments come in the order of the Solidity signature. All throw RangeError on an address that is
 * not 20 bytes, an id that is not 32, or an amount that is no uint256.
 * @source quote-api.md 2.4; ERC-20; WETH9
 */
const selectors = {
  approve: '0x095ea7b3',
  transfer: '0xa9059cbb',
  depositNative: '0x49290c1c',
  depositErc20: '0xe8017952',
  wethDeposit: '0xd0e30db0',
  wethWithdraw: '0x2e1a7d4d',
} as const

const uint256Limit = 2n ** 256n
const addressPattern = /^0x[0-9a-fA-F]{40}$/
const bytes32Pattern = /^0x[0-9a-fA-F]{64}$/
const addressPadding = '0'.repeat(24)

/** `approve(address spender, uint256 amount)` */
export function encodeApprove(spender: Hex, amount: bigint): Hex {
  return `${selectors.approve}${addressWord(spender)}${uintWord(amount)}`
}

/** `transfer(address to, uint256 amount)` */
export function encodeTransfer(to: Hex, amount: bigint): Hex {
  return `${selectors.transfer}${addressWord(to)}${uintWord(amount)}`
}

/** The depository's `depositNative(address depositor, bytes32 id)`; the amount is the call's value. */
export function encodeDepositNative(depositor: Hex, id: Hex): Hex {
  return `${selectors.depositNative}${addressWord(depositor)}${bytes32Word(id)}`
}

/** The depository's `depositErc20(address depositor, address token, uint256 amount, bytes32 id)`. */
export function encodeDepositErc20(depositor: Hex, token: Hex, amount: bigint, id: Hex): Hex {
  return `${selectors.depositErc20}${addressWord(depositor)}${addressWord(token)}${uintWord(amount)}${bytes32Word(id)}`
}

/** WETH9 `deposit()`; the amount is the call's value. */
export function encodeWethDeposit(): Hex {
  return selectors.wethDeposit
}

/** WETH9 `withdraw(uint256 amount)` */
export function encodeWethWithdraw(amount: bigint): Hex {
  return `${selectors.wethWithdraw}${uintWord(amount)}`
}

/** One 32-byte ABI word as 64 hex digits, without `0x`. @throws RangeError */
export function addressWord(address: Hex): string {
  if (!addressPattern.test(address)) throw new RangeError('an address must be 0x and 40 hex digits')
  return `${addressPadding}${address.slice(2).toLowerCase()}`
}

/** See `addressWord`. */
export function bytes32Word(bytes: Hex): string {
  if (!bytes32Pattern.test(bytes)) throw new RangeError('an id must be 0x and 64 hex digits')
  return bytes.slice(2).toLowerCase()
}

/** See `addressWord`. */
export function uintWord(value: bigint): string {
  if (value < 0n || value >= uint256Limit) throw new RangeError('an amount must be a uint256')
  return value.toString(16).padStart(64, '0')
}
