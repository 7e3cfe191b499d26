export type { EndpointHealth, JsonRpcClient, RpcAnswer, RpcCall, RpcOptions } from './rpc/jsonRpc.ts'
