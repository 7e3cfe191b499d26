// Written by scripts/generateAbis.ts from packages/contracts/contracts. Do not edit.

export const depositAddressesAbi = [
  {"inputs":[{"internalType":"address","name":"depository_","type":"address"}],"stateMutability":"nonpayable","type":"constructor"},
  {"inputs":[],"name":"NotDepositor","type":"error"},
  {"inputs":[],"name":"NotSigned","type":"error"},
  {"inputs":[],"name":"NotSweeper","type":"error"},
  {"inputs":[],"name":"OrderOfAnotherAddress","type":"error"},
  {"inputs":[],"name":"Reentered","type":"error"},
  {"inputs":[],"name":"SWEEP_CODE_HASH","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"components":[{"internalType":"address","name":"orderSigner","type":"address"},{"internalType":"address","name":"sweeper","type":"address"},{"internalType":"address","name":"depositor","type":"address"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"internalType":"struct DepositTerms","name":"terms","type":"tuple"}],"name":"addressOf","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"current","outputs":[{"internalType":"address","name":"","type":"address"},{"internalType":"address","name":"","type":"address"},{"internalType":"bytes32","name":"","type":"bytes32"},{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"depository","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"components":[{"internalType":"address","name":"orderSigner","type":"address"},{"internalType":"address","name":"sweeper","type":"address"},{"internalType":"address","name":"depositor","type":"address"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"internalType":"struct DepositTerms","name":"terms","type":"tuple"},{"components":[{"internalType":"bytes32","name":"version","type":"bytes32"},{"internalType":"bytes32","name":"solverChainId","type":"bytes32"},{"internalType":"address","name":"solver","type":"address"},{"internalType":"uint256","name":"salt","type":"uint256"},{"internalType":"bytes32","name":"inputs","type":"bytes32"},{"internalType":"bytes32","name":"output","type":"bytes32"},{"internalType":"bytes32","name":"fees","type":"bytes32"}],"internalType":"struct OrderWords","name":"order","type":"tuple"},{"internalType":"bytes","name":"signature","type":"bytes"},{"internalType":"address","name":"token","type":"address"}],"name":"sweep","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"components":[{"internalType":"address","name":"orderSigner","type":"address"},{"internalType":"address","name":"sweeper","type":"address"},{"internalType":"address","name":"depositor","type":"address"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"internalType":"struct DepositTerms","name":"terms","type":"tuple"},{"internalType":"address","name":"token","type":"address"}],"name":"withdraw","outputs":[],"stateMutability":"nonpayable","type":"function"},
] as const

export const depositSweepAbi = [
  {"inputs":[],"stateMutability":"nonpayable","type":"constructor"},
  {"inputs":[{"internalType":"address","name":"to","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"}],"name":"NativeTransferFailed","type":"error"},
  {"inputs":[],"name":"NothingToSweep","type":"error"},
  {"inputs":[{"internalType":"address","name":"token","type":"address"},{"internalType":"bytes","name":"reason","type":"bytes"}],"name":"TokenCallFailed","type":"error"},
] as const

export const depositoryAbi = [
  {"inputs":[],"name":"AlreadyInitialized","type":"error"},
  {"inputs":[{"internalType":"uint256","name":"index","type":"uint256"},{"internalType":"bytes","name":"reason","type":"bytes"}],"name":"CallFailed","type":"error"},
  {"inputs":[],"name":"CallRequestAlreadyUsed","type":"error"},
  {"inputs":[],"name":"CallRequestExpired","type":"error"},
  {"inputs":[],"name":"InvalidSignature","type":"error"},
  {"inputs":[],"name":"NotOwner","type":"error"},
  {"inputs":[{"internalType":"address","name":"token","type":"address"},{"internalType":"bytes","name":"reason","type":"bytes"}],"name":"TokenCallFailed","type":"error"},
  {"inputs":[],"name":"ZeroOwner","type":"error"},
  {"anonymous":false,"inputs":[{"indexed":false,"internalType":"bytes32","name":"id","type":"bytes32"},{"components":[{"internalType":"address","name":"to","type":"address"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"uint256","name":"value","type":"uint256"},{"internalType":"bool","name":"allowFailure","type":"bool"}],"indexed":false,"internalType":"struct Call","name":"call","type":"tuple"}],"name":"RelayCallExecuted","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":false,"internalType":"address","name":"from","type":"address"},{"indexed":false,"internalType":"address","name":"token","type":"address"},{"indexed":false,"internalType":"uint256","name":"amount","type":"uint256"},{"indexed":false,"internalType":"bytes32","name":"id","type":"bytes32"}],"name":"RelayErc20Deposit","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":false,"internalType":"address","name":"from","type":"address"},{"indexed":false,"internalType":"uint256","name":"amount","type":"uint256"},{"indexed":false,"internalType":"bytes32","name":"id","type":"bytes32"}],"name":"RelayNativeDeposit","type":"event"},
  {"inputs":[],"name":"DOMAIN_SEPARATOR","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"allocator","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"structHash","type":"bytes32"}],"name":"callRequests","outputs":[{"internalType":"bool","name":"","type":"bool"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"depositor","type":"address"},{"internalType":"address","name":"token","type":"address"},{"internalType":"bytes32","name":"id","type":"bytes32"}],"name":"depositErc20","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"address","name":"depositor","type":"address"},{"internalType":"address","name":"token","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"bytes32","name":"id","type":"bytes32"}],"name":"depositErc20","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"address","name":"depositor","type":"address"},{"internalType":"bytes32","name":"id","type":"bytes32"}],"name":"depositNative","outputs":[],"stateMutability":"payable","type":"function"},
  {"inputs":[{"components":[{"components":[{"internalType":"address","name":"to","type":"address"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"uint256","name":"value","type":"uint256"},{"internalType":"bool","name":"allowFailure","type":"bool"}],"internalType":"struct Call[]","name":"calls","type":"tuple[]"},{"internalType":"uint256","name":"nonce","type":"uint256"},{"internalType":"uint256","name":"expiration","type":"uint256"}],"internalType":"struct CallRequest","name":"request","type":"tuple"},{"internalType":"bytes","name":"signature","type":"bytes"}],"name":"execute","outputs":[{"components":[{"internalType":"bool","name":"success","type":"bool"},{"internalType":"bytes","name":"returnData","type":"bytes"}],"internalType":"struct CallResult[]","name":"results","type":"tuple[]"}],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"components":[{"components":[{"internalType":"address","name":"to","type":"address"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"uint256","name":"value","type":"uint256"},{"internalType":"bool","name":"allowFailure","type":"bool"}],"internalType":"struct Call[]","name":"calls","type":"tuple[]"},{"internalType":"uint256","name":"nonce","type":"uint256"},{"internalType":"uint256","name":"expiration","type":"uint256"}],"internalType":"struct CallRequest","name":"request","type":"tuple"}],"name":"hashCallRequest","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"pure","type":"function"},
  {"inputs":[{"internalType":"address","name":"owner_","type":"address"},{"internalType":"address","name":"allocator_","type":"address"}],"name":"initialize","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[],"name":"owner","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"allocator_","type":"address"}],"name":"setAllocator","outputs":[],"stateMutability":"nonpayable","type":"function"},
] as const

export const depositRouterAbi = [
  {"inputs":[{"internalType":"contract Depository","name":"depository_","type":"address"},{"internalType":"address","name":"swapRouter_","type":"address"},{"internalType":"contract IWrappedNative","name":"wrappedNative_","type":"address"}],"stateMutability":"nonpayable","type":"constructor"},
  {"inputs":[{"internalType":"uint256","name":"amountOut","type":"uint256"},{"internalType":"uint256","name":"minAmountOut","type":"uint256"}],"name":"InsufficientOutput","type":"error"},
  {"inputs":[{"internalType":"address","name":"to","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"}],"name":"NativeTransferFailed","type":"error"},
  {"inputs":[],"name":"Reentered","type":"error"},
  {"inputs":[],"name":"SameToken","type":"error"},
  {"inputs":[{"internalType":"bytes","name":"reason","type":"bytes"}],"name":"SwapFailed","type":"error"},
  {"inputs":[{"internalType":"address","name":"token","type":"address"},{"internalType":"bytes","name":"reason","type":"bytes"}],"name":"TokenCallFailed","type":"error"},
  {"inputs":[],"name":"UnexpectedNative","type":"error"},
  {"inputs":[],"name":"WrongValue","type":"error"},
  {"inputs":[],"name":"depository","outputs":[{"internalType":"contract Depository","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"components":[{"internalType":"address","name":"tokenIn","type":"address"},{"internalType":"uint256","name":"amountIn","type":"uint256"},{"internalType":"address","name":"tokenOut","type":"address"},{"internalType":"uint256","name":"minAmountOut","type":"uint256"},{"internalType":"address","name":"depositor","type":"address"},{"internalType":"bytes32","name":"id","type":"bytes32"},{"internalType":"bytes","name":"swapData","type":"bytes"}],"internalType":"struct SwapAndDeposit","name":"request","type":"tuple"}],"name":"swapAndDeposit","outputs":[{"internalType":"uint256","name":"amountOut","type":"uint256"}],"stateMutability":"payable","type":"function"},
  {"inputs":[],"name":"swapRouter","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"wrappedNative","outputs":[{"internalType":"contract IWrappedNative","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"stateMutability":"payable","type":"receive"},
] as const

export const fillContractAbi = [
  {"inputs":[{"internalType":"bytes32","name":"id","type":"bytes32"}],"name":"AlreadyClosed","type":"error"},
  {"inputs":[{"internalType":"bytes32","name":"id","type":"bytes32"}],"name":"AlreadyPaid","type":"error"},
  {"inputs":[{"internalType":"bytes32","name":"salt","type":"bytes32"}],"name":"CloneNotCreated","type":"error"},
  {"inputs":[{"internalType":"uint256","name":"deadline","type":"uint256"}],"name":"DeadlinePassed","type":"error"},
  {"inputs":[{"internalType":"address","name":"to","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"}],"name":"NativeTransferFailed","type":"error"},
  {"inputs":[],"name":"Reentered","type":"error"},
  {"inputs":[{"internalType":"address","name":"token","type":"address"},{"internalType":"bytes","name":"reason","type":"bytes"}],"name":"TokenCallFailed","type":"error"},
  {"inputs":[{"internalType":"uint256","name":"sent","type":"uint256"},{"internalType":"uint256","name":"needed","type":"uint256"}],"name":"WrongValue","type":"error"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"address","name":"filler","type":"address"},{"indexed":true,"internalType":"bytes32","name":"id","type":"bytes32"}],"name":"Closed","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"address","name":"filler","type":"address"},{"indexed":true,"internalType":"bytes32","name":"id","type":"bytes32"}],"name":"Paid","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":false,"internalType":"address","name":"to","type":"address"},{"indexed":false,"internalType":"bytes","name":"data","type":"bytes"},{"indexed":false,"internalType":"uint256","name":"amount","type":"uint256"}],"name":"SolverCallExecuted","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":false,"internalType":"address","name":"to","type":"address"},{"indexed":false,"internalType":"uint256","name":"amount","type":"uint256"}],"name":"SolverNativeTransfer","type":"event"},
  {"inputs":[{"internalType":"address","name":"filler","type":"address"},{"internalType":"bytes32","name":"orderSalt","type":"bytes32"},{"internalType":"address","name":"recipient","type":"address"},{"components":[{"internalType":"address","name":"to","type":"address"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"uint256","name":"value","type":"uint256"}],"internalType":"struct FillCall[]","name":"calls","type":"tuple[]"}],"name":"cloneOf","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"id","type":"bytes32"}],"name":"close","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"id","type":"bytes32"},{"internalType":"uint256","name":"deadline","type":"uint256"},{"components":[{"internalType":"address","name":"to","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"}],"internalType":"struct NativePayment[]","name":"nativePayments","type":"tuple[]"},{"components":[{"internalType":"address","name":"token","type":"address"},{"internalType":"address","name":"to","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"}],"internalType":"struct Erc20Payment[]","name":"erc20Payments","type":"tuple[]"},{"components":[{"internalType":"bytes32","name":"orderSalt","type":"bytes32"},{"internalType":"address","name":"recipient","type":"address"},{"internalType":"address[]","name":"sweptTokens","type":"address[]"},{"components":[{"internalType":"address","name":"to","type":"address"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"uint256","name":"value","type":"uint256"}],"internalType":"struct FillCall[]","name":"calls","type":"tuple[]"}],"internalType":"struct OrderCalls","name":"orderCalls","type":"tuple"}],"name":"fill","outputs":[],"stateMutability":"payable","type":"function"},
  {"inputs":[],"name":"implementation","outputs":[{"internalType":"contract OrderClone","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"id","type":"bytes32"},{"internalType":"uint256","name":"deadline","type":"uint256"},{"components":[{"internalType":"address","name":"to","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"}],"internalType":"struct NativePayment[]","name":"nativePayments","type":"tuple[]"},{"components":[{"internalType":"address","name":"token","type":"address"},{"internalType":"address","name":"to","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"}],"internalType":"struct Erc20Payment[]","name":"erc20Payments","type":"tuple[]"}],"name":"pay","outputs":[],"stateMutability":"payable","type":"function"},
  {"inputs":[{"internalType":"address","name":"filler","type":"address"},{"internalType":"bytes32","name":"id","type":"bytes32"}],"name":"stateOf","outputs":[{"internalType":"enum FillContract.State","name":"","type":"uint8"}],"stateMutability":"view","type":"function"},
] as const

export const orderCloneAbi = [
  {"inputs":[{"internalType":"uint256","name":"index","type":"uint256"},{"internalType":"bytes","name":"reason","type":"bytes"}],"name":"CallFailed","type":"error"},
  {"inputs":[{"internalType":"address","name":"to","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"}],"name":"NativeTransferFailed","type":"error"},
  {"inputs":[],"name":"NotFillContract","type":"error"},
  {"inputs":[{"internalType":"address","name":"token","type":"address"},{"internalType":"bytes","name":"reason","type":"bytes"}],"name":"TokenCallFailed","type":"error"},
  {"inputs":[],"name":"fillContract","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"components":[{"internalType":"address","name":"to","type":"address"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"uint256","name":"value","type":"uint256"}],"internalType":"struct FillCall[]","name":"calls","type":"tuple[]"},{"internalType":"address[]","name":"sweptTokens","type":"address[]"},{"internalType":"address","name":"recipient","type":"address"}],"name":"run","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"stateMutability":"payable","type":"receive"},
] as const

export const permit2RouterAbi = [
  {"inputs":[{"internalType":"address","name":"recipient","type":"address"}],"name":"InvalidRecipient","type":"error"},
  {"inputs":[],"name":"Reentered","type":"error"},
  {"inputs":[],"name":"CALL_TYPEHASH","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"PERMIT2","outputs":[{"internalType":"contract IPermit2","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"WITNESS_TYPE","outputs":[{"internalType":"string","name":"","type":"string"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"WITNESS_TYPEHASH","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"user","type":"address"},{"components":[{"components":[{"internalType":"address","name":"token","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"}],"internalType":"struct TokenPermissions[]","name":"permitted","type":"tuple[]"},{"internalType":"uint256","name":"nonce","type":"uint256"},{"internalType":"uint256","name":"deadline","type":"uint256"}],"internalType":"struct PermitBatchTransferFrom","name":"permit","type":"tuple"},{"components":[{"internalType":"address","name":"target","type":"address"},{"internalType":"bool","name":"allowFailure","type":"bool"},{"internalType":"uint256","name":"value","type":"uint256"},{"internalType":"bytes","name":"callData","type":"bytes"}],"internalType":"struct Call3Value[]","name":"calls","type":"tuple[]"},{"internalType":"address","name":"refundTo","type":"address"},{"internalType":"address","name":"nftRecipient","type":"address"},{"internalType":"bytes","name":"metadata","type":"bytes"},{"internalType":"bytes","name":"signature","type":"bytes"}],"name":"permit2TransferAndMulticall","outputs":[],"stateMutability":"nonpayable","type":"function"},
] as const

export const permitRouterAbi = [
  {"inputs":[{"internalType":"contract Depository","name":"depository_","type":"address"}],"stateMutability":"nonpayable","type":"constructor"},
  {"inputs":[],"name":"Reentered","type":"error"},
  {"inputs":[{"internalType":"address","name":"token","type":"address"},{"internalType":"bytes","name":"reason","type":"bytes"}],"name":"TokenCallFailed","type":"error"},
  {"inputs":[],"name":"DEPOSIT_CODE_HASH","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"current","outputs":[{"internalType":"address","name":"","type":"address"},{"internalType":"address","name":"","type":"address"},{"internalType":"address","name":"","type":"address"},{"internalType":"uint256","name":"","type":"uint256"},{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"components":[{"internalType":"address","name":"token","type":"address"},{"internalType":"address","name":"owner","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"uint256","name":"deadline","type":"uint256"},{"internalType":"bytes32","name":"id","type":"bytes32"}],"internalType":"struct SignedDeposit","name":"signed","type":"tuple"},{"internalType":"bytes","name":"signature","type":"bytes"}],"name":"depositWithAuthorization","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"components":[{"internalType":"address","name":"token","type":"address"},{"internalType":"address","name":"owner","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"uint256","name":"deadline","type":"uint256"},{"internalType":"bytes32","name":"id","type":"bytes32"}],"internalType":"struct SignedDeposit","name":"signed","type":"tuple"},{"internalType":"bytes","name":"signature","type":"bytes"}],"name":"depositWithPermit","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[],"name":"depository","outputs":[{"internalType":"contract Depository","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"components":[{"internalType":"address","name":"token","type":"address"},{"internalType":"address","name":"owner","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"uint256","name":"deadline","type":"uint256"},{"internalType":"bytes32","name":"id","type":"bytes32"}],"internalType":"struct SignedDeposit","name":"signed","type":"tuple"}],"name":"spenderOf","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
] as const

export const permittedCallsAbi = [
  {"inputs":[{"components":[{"internalType":"address","name":"target","type":"address"},{"internalType":"bool","name":"allowFailure","type":"bool"},{"internalType":"uint256","name":"value","type":"uint256"},{"internalType":"bytes","name":"callData","type":"bytes"}],"internalType":"struct Call3Value[]","name":"calls","type":"tuple[]"},{"components":[{"internalType":"address","name":"token","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"}],"internalType":"struct TokenPermissions[]","name":"permitted","type":"tuple[]"},{"internalType":"address","name":"refundTo","type":"address"}],"stateMutability":"nonpayable","type":"constructor"},
  {"inputs":[{"internalType":"uint256","name":"index","type":"uint256"},{"internalType":"bytes","name":"reason","type":"bytes"}],"name":"CallFailed","type":"error"},
  {"inputs":[{"internalType":"address","name":"to","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"}],"name":"NativeTransferFailed","type":"error"},
  {"inputs":[{"internalType":"address","name":"token","type":"address"},{"internalType":"bytes","name":"reason","type":"bytes"}],"name":"TokenCallFailed","type":"error"},
] as const

export const permittedDepositAbi = [
  {"inputs":[],"stateMutability":"nonpayable","type":"constructor"},
  {"inputs":[{"internalType":"address","name":"token","type":"address"},{"internalType":"bytes","name":"reason","type":"bytes"}],"name":"TokenCallFailed","type":"error"},
] as const

export const allocatorAbi = [
  {"inputs":[],"name":"AlreadyInitialized","type":"error"},
  {"inputs":[],"name":"AlreadySigned","type":"error"},
  {"inputs":[],"name":"DuplicatePayload","type":"error"},
  {"inputs":[],"name":"EmptyPayload","type":"error"},
  {"inputs":[],"name":"InvalidSignature","type":"error"},
  {"inputs":[],"name":"NonceUsed","type":"error"},
  {"inputs":[],"name":"NotOwner","type":"error"},
  {"inputs":[],"name":"NotSigner","type":"error"},
  {"inputs":[],"name":"UnknownBuilder","type":"error"},
  {"inputs":[],"name":"UnknownPayload","type":"error"},
  {"inputs":[],"name":"ZeroOwner","type":"error"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"uint256","name":"chainId","type":"uint256"},{"indexed":false,"internalType":"string","name":"depository","type":"string"},{"indexed":false,"internalType":"contract PayloadBuilder","name":"builder","type":"address"}],"name":"BuilderSet","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"bytes32","name":"payloadId","type":"bytes32"},{"indexed":false,"internalType":"bytes","name":"payload","type":"bytes"},{"indexed":false,"internalType":"uint256","name":"timestamp","type":"uint256"}],"name":"PayloadBuilt","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"bytes32","name":"payloadId","type":"bytes32"},{"indexed":true,"internalType":"bytes32","name":"hash","type":"bytes32"},{"indexed":false,"internalType":"bytes","name":"signature","type":"bytes"}],"name":"PayloadWithdrawSigned","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"bytes32","name":"payloadId","type":"bytes32"},{"components":[{"internalType":"uint256","name":"chainId","type":"uint256"},{"internalType":"string","name":"depository","type":"string"},{"internalType":"string","name":"currency","type":"string"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"address","name":"spender","type":"address"},{"internalType":"string","name":"receiver","type":"string"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"indexed":false,"internalType":"struct SubmitWithdrawRequest","name":"request","type":"tuple"}],"name":"WithdrawRequestSubmitted","type":"event"},
  {"inputs":[{"components":[{"internalType":"uint256","name":"chainId","type":"uint256"},{"internalType":"string","name":"depository","type":"string"},{"internalType":"string","name":"currency","type":"string"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"address","name":"spender","type":"address"},{"internalType":"string","name":"receiver","type":"string"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"internalType":"struct SubmitWithdrawRequest","name":"request","type":"tuple"}],"name":"hashRequest","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"owner_","type":"address"},{"internalType":"address","name":"oracle_","type":"address"},{"internalType":"address","name":"signer_","type":"address"},{"components":[{"internalType":"uint256","name":"chainId","type":"uint256"},{"internalType":"string","name":"depository","type":"string"},{"internalType":"contract PayloadBuilder","name":"builder","type":"address"}],"internalType":"struct Allocator.BuilderEntry[]","name":"builders","type":"tuple[]"}],"name":"initialize","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[],"name":"oracle","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"owner","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"uint256","name":"chainId","type":"uint256"},{"internalType":"string","name":"depository","type":"string"}],"name":"payloadBuilders","outputs":[{"internalType":"contract PayloadBuilder","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"payloadHash","type":"bytes32"}],"name":"payloadIdByHash","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"spender","type":"address"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"name":"payloadIdOf","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"payloadId","type":"bytes32"}],"name":"payloadTimestamps","outputs":[{"internalType":"uint256","name":"","type":"uint256"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"payloadId","type":"bytes32"}],"name":"payloads","outputs":[{"internalType":"bytes","name":"","type":"bytes"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"uint256","name":"chainId","type":"uint256"},{"internalType":"string","name":"depository","type":"string"},{"internalType":"contract PayloadBuilder","name":"builder","type":"address"}],"name":"setBuilder","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"payloadId","type":"bytes32"},{"internalType":"bytes32","name":"hash","type":"bytes32"}],"name":"signedPayloads","outputs":[{"internalType":"bytes","name":"","type":"bytes"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"signer","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"payloadId","type":"bytes32"},{"internalType":"bytes32","name":"hash","type":"bytes32"},{"internalType":"bytes","name":"signature","type":"bytes"}],"name":"storeSignature","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"components":[{"internalType":"uint256","name":"chainId","type":"uint256"},{"internalType":"string","name":"depository","type":"string"},{"internalType":"string","name":"currency","type":"string"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"address","name":"spender","type":"address"},{"internalType":"string","name":"receiver","type":"string"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"internalType":"struct SubmitWithdrawRequest","name":"request","type":"tuple"},{"internalType":"bytes","name":"oracleSignature","type":"bytes"}],"name":"submitWithdrawRequest","outputs":[{"internalType":"bytes32","name":"payloadId","type":"bytes32"}],"stateMutability":"nonpayable","type":"function"},
] as const

export const bitcoinPayloadBuilderAbi = [
  {"inputs":[],"name":"MalformedText","type":"error"},
  {"inputs":[{"internalType":"bytes32","name":"","type":"bytes32"},{"components":[{"internalType":"uint256","name":"chainId","type":"uint256"},{"internalType":"string","name":"depository","type":"string"},{"internalType":"string","name":"currency","type":"string"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"address","name":"spender","type":"address"},{"internalType":"string","name":"receiver","type":"string"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"internalType":"struct SubmitWithdrawRequest","name":"request","type":"tuple"}],"name":"buildPayload","outputs":[{"internalType":"bytes","name":"","type":"bytes"}],"stateMutability":"pure","type":"function"},
  {"inputs":[],"name":"family","outputs":[{"internalType":"string","name":"","type":"string"}],"stateMutability":"pure","type":"function"},
  {"inputs":[{"internalType":"uint256","name":"","type":"uint256"},{"internalType":"string","name":"","type":"string"},{"internalType":"bytes","name":"payload","type":"bytes"},{"internalType":"uint32","name":"index","type":"uint32"}],"name":"hashToSign","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"pure","type":"function"},
] as const

export const evmPayloadBuilderAbi = [
  {"inputs":[],"name":"MalformedText","type":"error"},
  {"inputs":[],"name":"LIFETIME","outputs":[{"internalType":"uint256","name":"","type":"uint256"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"payloadId","type":"bytes32"},{"components":[{"internalType":"uint256","name":"chainId","type":"uint256"},{"internalType":"string","name":"depository","type":"string"},{"internalType":"string","name":"currency","type":"string"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"address","name":"spender","type":"address"},{"internalType":"string","name":"receiver","type":"string"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"internalType":"struct SubmitWithdrawRequest","name":"request","type":"tuple"}],"name":"buildPayload","outputs":[{"internalType":"bytes","name":"","type":"bytes"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"family","outputs":[{"internalType":"string","name":"","type":"string"}],"stateMutability":"pure","type":"function"},
  {"inputs":[{"internalType":"uint256","name":"chainId","type":"uint256"},{"internalType":"string","name":"depository","type":"string"},{"internalType":"bytes","name":"payload","type":"bytes"},{"internalType":"uint32","name":"index","type":"uint32"}],"name":"hashToSign","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"pure","type":"function"},
] as const

export const hyperliquidPayloadBuilderAbi = [
  {"inputs":[{"internalType":"string","name":"hyperliquidChain_","type":"string"},{"components":[{"internalType":"bytes16","name":"token","type":"bytes16"},{"internalType":"uint8","name":"decimals","type":"uint8"}],"internalType":"struct TokenDecimals[]","name":"tokens","type":"tuple[]"}],"stateMutability":"nonpayable","type":"constructor"},
  {"inputs":[],"name":"MalformedText","type":"error"},
  {"inputs":[],"name":"SEND_ASSET","outputs":[{"internalType":"uint8","name":"","type":"uint8"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"USD_DECIMALS","outputs":[{"internalType":"uint8","name":"","type":"uint8"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"USD_SEND","outputs":[{"internalType":"uint8","name":"","type":"uint8"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"","type":"bytes32"},{"components":[{"internalType":"uint256","name":"chainId","type":"uint256"},{"internalType":"string","name":"depository","type":"string"},{"internalType":"string","name":"currency","type":"string"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"address","name":"spender","type":"address"},{"internalType":"string","name":"receiver","type":"string"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"internalType":"struct SubmitWithdrawRequest","name":"request","type":"tuple"}],"name":"buildPayload","outputs":[{"internalType":"bytes","name":"","type":"bytes"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes16","name":"token","type":"bytes16"}],"name":"decimalsPlusOne","outputs":[{"internalType":"uint8","name":"","type":"uint8"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"family","outputs":[{"internalType":"string","name":"","type":"string"}],"stateMutability":"pure","type":"function"},
  {"inputs":[{"internalType":"uint256","name":"","type":"uint256"},{"internalType":"string","name":"","type":"string"},{"internalType":"bytes","name":"payload","type":"bytes"},{"internalType":"uint32","name":"index","type":"uint32"}],"name":"hashToSign","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"pure","type":"function"},
  {"inputs":[],"name":"hyperliquidChain","outputs":[{"internalType":"string","name":"","type":"string"}],"stateMutability":"view","type":"function"},
] as const

export const lighterPayloadBuilderAbi = [
  {"inputs":[{"internalType":"uint64","name":"lighterChainId","type":"uint64"}],"stateMutability":"nonpayable","type":"constructor"},
  {"inputs":[],"name":"MalformedText","type":"error"},
  {"inputs":[],"name":"LIGHTER_CHAIN_ID","outputs":[{"internalType":"uint64","name":"","type":"uint64"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"TRANSFER","outputs":[{"internalType":"uint8","name":"","type":"uint8"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"","type":"bytes32"},{"components":[{"internalType":"uint256","name":"chainId","type":"uint256"},{"internalType":"string","name":"depository","type":"string"},{"internalType":"string","name":"currency","type":"string"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"address","name":"spender","type":"address"},{"internalType":"string","name":"receiver","type":"string"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"internalType":"struct SubmitWithdrawRequest","name":"request","type":"tuple"}],"name":"buildPayload","outputs":[{"internalType":"bytes","name":"","type":"bytes"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"family","outputs":[{"internalType":"string","name":"","type":"string"}],"stateMutability":"pure","type":"function"},
  {"inputs":[{"internalType":"uint256","name":"","type":"uint256"},{"internalType":"string","name":"","type":"string"},{"internalType":"bytes","name":"payload","type":"bytes"},{"internalType":"uint32","name":"index","type":"uint32"}],"name":"hashToSign","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"pure","type":"function"},
] as const

export const solanaPayloadBuilderAbi = [
  {"inputs":[{"internalType":"bytes32","name":"domain","type":"bytes32"},{"internalType":"bytes32","name":"vault","type":"bytes32"}],"stateMutability":"nonpayable","type":"constructor"},
  {"inputs":[],"name":"MalformedText","type":"error"},
  {"inputs":[],"name":"DOMAIN","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"LIFETIME","outputs":[{"internalType":"uint256","name":"","type":"uint256"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"VAULT","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"payloadId","type":"bytes32"},{"components":[{"internalType":"uint256","name":"chainId","type":"uint256"},{"internalType":"string","name":"depository","type":"string"},{"internalType":"string","name":"currency","type":"string"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"address","name":"spender","type":"address"},{"internalType":"string","name":"receiver","type":"string"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"internalType":"struct SubmitWithdrawRequest","name":"request","type":"tuple"}],"name":"buildPayload","outputs":[{"internalType":"bytes","name":"","type":"bytes"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"family","outputs":[{"internalType":"string","name":"","type":"string"}],"stateMutability":"pure","type":"function"},
  {"inputs":[{"internalType":"uint256","name":"","type":"uint256"},{"internalType":"string","name":"","type":"string"},{"internalType":"bytes","name":"payload","type":"bytes"},{"internalType":"uint32","name":"index","type":"uint32"}],"name":"hashToSign","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"pure","type":"function"},
] as const

export const genericMappingAbi = [
  {"inputs":[],"name":"AlreadyInitialized","type":"error"},
  {"inputs":[],"name":"EntryExists","type":"error"},
  {"inputs":[],"name":"InvalidSignature","type":"error"},
  {"inputs":[],"name":"NonceUsed","type":"error"},
  {"inputs":[],"name":"NotOperator","type":"error"},
  {"inputs":[],"name":"NotOwner","type":"error"},
  {"inputs":[],"name":"UnauthorizedOracle","type":"error"},
  {"inputs":[],"name":"ZeroOwner","type":"error"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"address","name":"user","type":"address"},{"indexed":true,"internalType":"bytes32","name":"id","type":"bytes32"},{"indexed":false,"internalType":"bytes","name":"data","type":"bytes"}],"name":"EntrySet","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"bytes32","name":"role","type":"bytes32"},{"indexed":true,"internalType":"address","name":"account","type":"address"}],"name":"RoleGranted","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"bytes32","name":"role","type":"bytes32"},{"indexed":true,"internalType":"address","name":"account","type":"address"}],"name":"RoleRevoked","type":"event"},
  {"inputs":[],"name":"DOMAIN_SEPARATOR","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"OPERATOR_ROLE","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"ORACLE_ROLE","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"user","type":"address"},{"internalType":"bytes32","name":"id","type":"bytes32"}],"name":"getEntry","outputs":[{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"uint256","name":"createdAt","type":"uint256"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"role","type":"bytes32"},{"internalType":"address","name":"account","type":"address"}],"name":"grantRole","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"role","type":"bytes32"},{"internalType":"address","name":"account","type":"address"}],"name":"hasRole","outputs":[{"internalType":"bool","name":"","type":"bool"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"user","type":"address"},{"internalType":"bytes32","name":"id","type":"bytes32"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"name":"hashEntry","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"owner_","type":"address"},{"internalType":"address","name":"operator","type":"address"},{"internalType":"address","name":"oracle","type":"address"}],"name":"initialize","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"nonce","type":"bytes32"}],"name":"isNonceUsed","outputs":[{"internalType":"bool","name":"","type":"bool"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"owner","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"role","type":"bytes32"},{"internalType":"address","name":"account","type":"address"}],"name":"revokeRole","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"address","name":"user","type":"address"},{"internalType":"bytes32","name":"id","type":"bytes32"},{"internalType":"bytes","name":"data","type":"bytes"},{"internalType":"bytes32","name":"nonce","type":"bytes32"},{"internalType":"address","name":"oracle","type":"address"},{"internalType":"bytes","name":"signature","type":"bytes"}],"name":"setEntry","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"id","type":"bytes32"},{"internalType":"bytes","name":"data","type":"bytes"}],"name":"setEntry","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"address","name":"user","type":"address"},{"internalType":"bytes32","name":"id","type":"bytes32"},{"internalType":"bytes","name":"data","type":"bytes"}],"name":"setEntryFor","outputs":[],"stateMutability":"nonpayable","type":"function"},
] as const

export const hubAbi = [
  {"inputs":[],"name":"AlreadyInitialized","type":"error"},
  {"inputs":[],"name":"InsufficientBalance","type":"error"},
  {"inputs":[],"name":"NotOperator","type":"error"},
  {"inputs":[],"name":"NotOwner","type":"error"},
  {"inputs":[],"name":"ZeroOwner","type":"error"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"bytes32","name":"role","type":"bytes32"},{"indexed":true,"internalType":"address","name":"account","type":"address"}],"name":"RoleGranted","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"bytes32","name":"role","type":"bytes32"},{"indexed":true,"internalType":"address","name":"account","type":"address"}],"name":"RoleRevoked","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":false,"internalType":"address","name":"caller","type":"address"},{"indexed":true,"internalType":"address","name":"sender","type":"address"},{"indexed":true,"internalType":"address","name":"receiver","type":"address"},{"indexed":true,"internalType":"uint256","name":"id","type":"uint256"},{"indexed":false,"internalType":"uint256","name":"amount","type":"uint256"}],"name":"Transfer","type":"event"},
  {"inputs":[],"name":"OPERATOR_ROLE","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"holder","type":"address"},{"internalType":"uint256","name":"id","type":"uint256"}],"name":"balanceOf","outputs":[{"internalType":"uint256","name":"","type":"uint256"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"sender","type":"address"},{"internalType":"uint256","name":"id","type":"uint256"},{"internalType":"uint256","name":"amount","type":"uint256"}],"name":"burn","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"role","type":"bytes32"},{"internalType":"address","name":"account","type":"address"}],"name":"grantRole","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"role","type":"bytes32"},{"internalType":"address","name":"account","type":"address"}],"name":"hasRole","outputs":[{"internalType":"bool","name":"","type":"bool"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"owner_","type":"address"},{"internalType":"address","name":"operator","type":"address"}],"name":"initialize","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"address","name":"receiver","type":"address"},{"internalType":"uint256","name":"id","type":"uint256"},{"internalType":"uint256","name":"amount","type":"uint256"}],"name":"mint","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[],"name":"owner","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"role","type":"bytes32"},{"internalType":"address","name":"account","type":"address"}],"name":"revokeRole","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"uint256","name":"id","type":"uint256"}],"name":"totalSupply","outputs":[{"internalType":"uint256","name":"","type":"uint256"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"sender","type":"address"},{"internalType":"address","name":"receiver","type":"address"},{"internalType":"uint256","name":"id","type":"uint256"},{"internalType":"uint256","name":"amount","type":"uint256"}],"name":"transferFrom","outputs":[{"internalType":"bool","name":"","type":"bool"}],"stateMutability":"nonpayable","type":"function"},
] as const

export const hubOracleAbi = [
  {"inputs":[{"internalType":"contract Hub","name":"hub","type":"address"}],"stateMutability":"nonpayable","type":"constructor"},
  {"inputs":[],"name":"AlreadyExecuted","type":"error"},
  {"inputs":[],"name":"AlreadyInitialized","type":"error"},
  {"inputs":[],"name":"InvalidActionType","type":"error"},
  {"inputs":[],"name":"InvalidSignature","type":"error"},
  {"inputs":[],"name":"LengthMismatch","type":"error"},
  {"inputs":[],"name":"NotOwner","type":"error"},
  {"inputs":[],"name":"UnauthorizedOracle","type":"error"},
  {"inputs":[],"name":"ZeroOwner","type":"error"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"bytes32","name":"idempotencyKey","type":"bytes32"},{"indexed":false,"internalType":"bytes[]","name":"actions","type":"bytes[]"}],"name":"Executed","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"bytes32","name":"idempotencyKey","type":"bytes32"},{"indexed":false,"internalType":"bytes","name":"reason","type":"bytes"}],"name":"ExecutionFailed","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"bytes32","name":"role","type":"bytes32"},{"indexed":true,"internalType":"address","name":"account","type":"address"}],"name":"RoleGranted","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"internalType":"bytes32","name":"role","type":"bytes32"},{"indexed":true,"internalType":"address","name":"account","type":"address"}],"name":"RoleRevoked","type":"event"},
  {"inputs":[],"name":"DOMAIN_SEPARATOR","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"HUB","outputs":[{"internalType":"contract Hub","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"ORACLE_ROLE","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"components":[{"internalType":"bytes32","name":"idempotencyKey","type":"bytes32"},{"internalType":"bytes[]","name":"actions","type":"bytes[]"}],"internalType":"struct Execution","name":"execution","type":"tuple"},{"internalType":"address","name":"oracle","type":"address"},{"internalType":"bytes","name":"signature","type":"bytes"}],"name":"execute","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"components":[{"internalType":"bytes32","name":"idempotencyKey","type":"bytes32"},{"internalType":"bytes[]","name":"actions","type":"bytes[]"}],"internalType":"struct Execution[]","name":"executions","type":"tuple[]"},{"internalType":"address","name":"oracle","type":"address"},{"internalType":"bytes[]","name":"signatures","type":"bytes[]"}],"name":"executeMultiple","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"role","type":"bytes32"},{"internalType":"address","name":"account","type":"address"}],"name":"grantRole","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"role","type":"bytes32"},{"internalType":"address","name":"account","type":"address"}],"name":"hasRole","outputs":[{"internalType":"bool","name":"","type":"bool"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"components":[{"internalType":"bytes32","name":"idempotencyKey","type":"bytes32"},{"internalType":"bytes[]","name":"actions","type":"bytes[]"}],"internalType":"struct Execution","name":"execution","type":"tuple"}],"name":"hashExecution","outputs":[{"internalType":"bytes32","name":"","type":"bytes32"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address","name":"owner_","type":"address"},{"internalType":"address","name":"oracle","type":"address"}],"name":"initialize","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"idempotencyKey","type":"bytes32"}],"name":"isExecuted","outputs":[{"internalType":"bool","name":"","type":"bool"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"owner","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"role","type":"bytes32"},{"internalType":"address","name":"account","type":"address"}],"name":"revokeRole","outputs":[],"stateMutability":"nonpayable","type":"function"},
] as const

export const oracleMultisigAbi = [
  {"inputs":[],"name":"AlreadyInitialized","type":"error"},
  {"inputs":[{"internalType":"address","name":"signer","type":"address"}],"name":"InvalidSigner","type":"error"},
  {"inputs":[],"name":"InvalidThreshold","type":"error"},
  {"inputs":[],"name":"NotOwner","type":"error"},
  {"inputs":[],"name":"ZeroOwner","type":"error"},
  {"anonymous":false,"inputs":[{"indexed":false,"internalType":"address[]","name":"signers","type":"address[]"},{"indexed":false,"internalType":"uint256","name":"threshold","type":"uint256"}],"name":"SignersSet","type":"event"},
  {"inputs":[{"internalType":"address","name":"owner_","type":"address"},{"internalType":"address[]","name":"signers_","type":"address[]"},{"internalType":"uint256","name":"threshold_","type":"uint256"}],"name":"initialize","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"address","name":"account","type":"address"}],"name":"isSigner","outputs":[{"internalType":"bool","name":"","type":"bool"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"bytes32","name":"digest","type":"bytes32"},{"internalType":"bytes","name":"signature","type":"bytes"}],"name":"isValidSignature","outputs":[{"internalType":"bytes4","name":"","type":"bytes4"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"owner","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"internalType":"address[]","name":"signers_","type":"address[]"},{"internalType":"uint256","name":"threshold_","type":"uint256"}],"name":"setSigners","outputs":[],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[],"name":"signers","outputs":[{"internalType":"address[]","name":"","type":"address[]"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"threshold","outputs":[{"internalType":"uint256","name":"","type":"uint256"}],"stateMutability":"view","type":"function"},
] as const
