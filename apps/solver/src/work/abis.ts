import { parseAbi } from 'viem'

/** Of the contracts that work names, the functions that a solver calls. */
export const fillContractAbi = parseAbi([
  'struct NativePayment { address to; uint256 amount; }',
  'struct Erc20Payment { address token; address to; uint256 amount; }',
  'struct FillCall { address to; bytes data; uint256 value; }',
  'function fill(NativePayment[] nativePayments, Erc20Payment[] erc20Payments, FillCall[] calls, address refundTo) payable',
])

export const depositAddressesAbi = parseAbi([
  'struct DepositTerms { address orderSigner; address sweeper; address depositor; bytes32 nonce; }',
  'struct OrderWords { bytes32 version; bytes32 solverChainId; address solver; uint256 salt; bytes32 inputs; bytes32 output; bytes32 fees; }',
  'function sweep(DepositTerms terms, OrderWords order, bytes signature, address token)',
])

export const permitRouterAbi = parseAbi([
  'struct SignedDeposit { address token; address owner; uint256 amount; uint256 deadline; bytes32 id; }',
  'function depositWithAuthorization(SignedDeposit signed, bytes signature)',
  'function depositWithPermit(SignedDeposit signed, bytes signature)',
])

export const wrappedNativeAbi = parseAbi(['function deposit() payable'])
