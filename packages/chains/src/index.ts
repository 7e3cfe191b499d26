export { createJsonRpcClient, type JsonRpcClientOptions } from './rpc/client.ts'
export { EndpointFailure, type FailureReason } from './rpc/endpointFailure.ts'
export { evmHeadTracking, type HeadTracking } from './rpc/headTracking.ts'
export type {
  Agreement,
  AgreeOptions,
  EndpointAnswers,
  EndpointHealth,
  JsonRpcClient,
  RpcAnswer,
  RpcCall,
  RpcOptions,
} from './rpc/jsonRpc.ts'
export { NodeError } from './rpc/nodeError.ts'
export { defaultThreshold } from './rpc/quorum.ts'
