// Calldata of the network's contracts, as parties write it.
import { callData } from './contractModel.ts'

export const tokenCalls = {
  mint: callData('function mint((address to, uint256 amount)[] grants)'),
  approve: callData('function approve(address spender, uint256 amount)'),
  transfer: callData('function transfer(address to, uint256 amount)'),
  transferFrom: callData('function transferFrom(address from, address to, uint256 amount)'),
  transferWithAuthorization: callData(
    'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  ),
  balanceOf: callData('function balanceOf(address holder)'),
  allowance: callData('function allowance(address holder, address spender)'),
} as const

export const depositoryCalls = {
  depositNative: callData('function depositNative(address depositor, bytes32 id)'),
  depositErc20: callData(
    'function depositErc20(address depositor, address token, uint256 amount, bytes32 id)',
  ),
  execute: callData(
    'function execute(((address to, bytes data, uint256 value, bool allowFailure)[] calls, uint256 nonce, uint256 expiration) request, bytes signature)',
  ),
  callRequests: callData('function callRequests(bytes32 structHash)'),
} as const

export const payThroughFillContract = callData(
  'function pay(bytes32 id, uint256 deadline, (address to, uint256 amount)[] nativePayments, (address token, address to, uint256 amount)[] erc20Payments) payable',
)
export const closeInFillContract = callData('function close(bytes32 id)')
export const aggregate3 = callData(
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls)',
)

export const hubCalls = {
  mint: callData('function mint(address receiver, uint256 id, uint256 amount)'),
  balanceOf: callData('function balanceOf(address holder, uint256 id)'),
  totalSupply: callData('function totalSupply(uint256 id)'),
  isExecuted: callData('function isExecuted(bytes32 idempotencyKey)'),
  execute: callData(
    'function execute((bytes32 idempotencyKey, bytes[] actions) execution, address oracle, bytes signature)',
  ),
} as const

export const allocatorCalls = {
  submitWithdrawRequest: callData(
    'function submitWithdrawRequest((uint256 chainId, string depository, string currency, uint256 amount, address spender, string receiver, bytes data, bytes32 nonce) request, bytes oracleSignature)',
  ),
  storeSignature: callData('function storeSignature(bytes32 payloadId, bytes32 hash, bytes signature)'),
  payloads: callData('function payloads(bytes32 payloadId)'),
  payloadIdOf: callData('function payloadIdOf(address spender, bytes32 nonce)'),
} as const
