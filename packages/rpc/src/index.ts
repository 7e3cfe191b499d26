export { disagreement } from './agreement.ts'
export { logBlocksAtOnce } from './askInParts.ts'
export {
  AddressRefusedError,
  PaymentTooLargeError,
  TransactionMissingError,
  TransactionNotFinalError,
  TransactionRevertedError,
  TransactionTooLargeError,
  TransactionUnreadableError,
} from './chainErrors.ts'
export {
  answersOfEnough,
  askEnough,
  endpointOf,
  localProblems,
  unreadableChain,
  verifyLocalEndpoints,
} from './checkEndpoints.ts'
export {
  type ChainClient,
  createJsonRpcClient,
  type JsonRpcClientOptions,
  type NamedOutput,
  waitingIn,
} from './client.ts'
export { comparisonText } from './comparisonText.ts'
export { createEndpoints, type EndpointToCreate } from './createEndpoints.ts'
export type { Endpoint, EndpointObserver, ObserveEndpoints } from './endpoint.ts'
export { EndpointFailure, type FailureReason } from './endpointFailure.ts'
export { logRange } from './endpointSizes.ts'
export { countHosts, parseEndpoint } from './endpointUrl.ts'
export { EndpointView } from './endpointView.ts'
export { estimatesNeeded, medianOfVoices, medianUp } from './estimates.ts'
export { createFinalBlocks } from './finalBlocks.ts'
export { createQuestionGroups } from './groupedQuestions.ts'
export { type HeadPushes, openHeadPushes, type PushEnd } from './headPushes.ts'
export { answersTo, evmHeadTracking, type HeadTracking } from './headTracking.ts'
export type { HeaderSource, HttpAnswer } from './httpTransport.ts'
export { HttpView } from './httpView.ts'
export type {
  Agreement,
  AgreeOptions,
  EndpointAnswers,
  EndpointHealth,
  JsonRpcClient,
  PollOptions,
  RpcAnswer,
  RpcCall,
  RpcOptions,
  TakenSizes,
} from './jsonRpc.ts'
export { createLruCache, type LruCache } from './lruCache.ts'
export { MalformedAnswerError, unlessUnreadable } from './malformedAnswer.ts'
export { NodeError } from './nodeError.ts'
export {
  parseAddress,
  parseBytes,
  parseHash,
  parseList,
  parseQuantity,
  parseRecord,
  resultOf,
  toQuantity,
} from './quantity.ts'
export {
  type AgreedFacts,
  type ChainQuestion,
  createHttpQuorumClient,
  createHttpQuorumOver,
  createQuorum,
  createQuorumClient,
  createQuorumOver,
  createViewedQuorum,
  type EndpointSource,
  type QuorumClient,
  type QuorumClientOptions,
  type QuorumEndpointHealth,
  type QuorumLimits,
} from './quorumClient.ts'
export type { Line } from './requestPace.ts'
export { AnswerTooLongError, requestText } from './requestText.ts'
export {
  type CachedReading,
  defaultReadingCacheLimits,
  FinalReadingCache,
  type ReadingCacheLimits,
  SingleFlight,
  shareChainReading,
} from './sharedWork.ts'
export type { RefusalReason, Sighting } from './sighting.ts'
export { agreeOn, singleRoundQuestion } from './singleRoundQuestion.ts'
export {
  countVoices,
  defaultThreshold,
  type Electorate,
  reachedBy,
  tally,
  type Verdict,
  type Vote,
  type Voter,
  valuesByVoice,
} from './tally.ts'
export { isOverPace, isTooWide, refusesContent } from './upstreamError.ts'
