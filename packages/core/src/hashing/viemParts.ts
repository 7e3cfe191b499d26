// All of viem that services use. The bundle holds no more of it: the rest would treble the time that it takes to load.
export {
  BaseError,
  concatHex,
  createClient,
  custom,
  decodeFunctionData,
  decodeFunctionResult,
  ExecutionRevertedError,
  encodeFunctionData,
  hashTypedData,
  keccak256,
  numberToHex,
  parseAbi,
  parseSignature,
  prepareEncodeFunctionData,
  RpcRequestError,
  serializeTransaction,
  toRlp,
} from 'viem'
export { call } from 'viem/actions'
