import { bytesToHex, type CodeSignatureQuestion, type Evidence, type Hex } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import type { JsonRpcClient, QuorumClient, RpcAnswer, RpcCall, Sighting } from '@causeway/rpc'
import { parseBytes, resultOf, toQuantity } from '@causeway/rpc'
import { isExecutionFailure } from '../agreement/comparableAnswer.ts'
import { codeCall, parseCode } from './answers.ts'
import { newestFinal } from './finalBlocks.ts'
import { describeFinality, type FinalityRule } from './finality.ts'
import { headRound, readHeader } from './headRound.ts'

/** Enough gas for a signature check in Solidity, too little for a long loop or a huge return value. */
const gasMax = 1_000_000
const selector = '0x1626ba7e'
/** A contract accepts by returning the selector, padded to a word. */
const acceptance = new RegExp(`^${selector}0{56}$`)
const caller = `0x${'0'.repeat(40)}`

/**
 * True if a contract account accepts the signature at the newest block, as enough endpoints report.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError while too few say the same
 * @source Q-67
 */
export async function askCodeSignature(
  client: Pick<JsonRpcClient, 'agree'>,
  question: CodeSignatureQuestion,
  timeoutMs: number,
): Promise<boolean> {
  const { answers } = await client.agree([codeSignatureCall(question, 'latest')], {
    timeoutMs,
    project: ([answer]) => acceptsSignature(answer),
  })
  return acceptsSignature(answers[0])
}

/** One endpoint's vote: the final block in which the code accepts the signature; undefined if it does not. */
type SignatureAcceptance = {
  readonly acceptedIn: { readonly blockNumber: bigint; readonly blockHash: Hex } | undefined
}

const notAccepted: Sighting<SignatureAcceptance> = { kind: 'final', facts: { acceptedIn: undefined } }

/**
 * Asks at one final block whether a contract account accepts the signature; as many endpoints must agree as for
 * anything that an oracle signs.
 * @returns the evidence; undefined if the code does not accept it, or the account has none
 * @throws InvalidAddressError, UpstreamDisagreementError, UpstreamUnavailableError
 * @source rules P-80, P-81
 */
export async function readCodeSignature(
  { quorum, finality: rule }: { readonly quorum: QuorumClient; readonly finality: FinalityRule },
  question: CodeSignatureQuestion,
  signal: AbortSignal,
): Promise<Evidence | undefined> {
  // CAST: a canonical address of this family is lower-case hex.
  const account = ethereumCodec.canonicalAddress(question.account) as Hex
  const { chainId } = quorum
  const { facts, agreeingEndpoints } = await quorum.read({
    signal,
    // The first round agrees on a final height by all endpoints' heads; in the second, each votes at that height.
    ...headRound(rule, quorum.threshold),
    async second(view, _heads, finalHeight, ownSignal): Promise<Sighting<SignatureAcceptance>> {
      const final = await newestFinal(view, { rule, pin: finalHeight }, ownSignal)
      // On a chain without a final block no code is final either.
      if (final === undefined) return notAccepted
      const [code] = await view.ask([codeCall(account, final.number)], ownSignal)
      // A node without the state of that block answers with an error, so `parseCode` throws: it has no vote.
      if (parseCode(code, undefined).length <= 2) return notAccepted
      const call = codeSignatureCall({ ...question, account }, final.number)
      // Foreign code may run long, so its call shares no request with others.
      if (!acceptsSignature(await view.askAlone(call, ownSignal))) return notAccepted
      // The header is read last, so that it shows the chain on which the endpoint was after the other answers.
      const { number: blockNumber, hash: blockHash } = await readHeader(view, final.number, ownSignal)
      return { kind: 'final', facts: { acceptedIn: { blockNumber, blockHash } } }
    },
  })
  const { acceptedIn } = facts
  if (acceptedIn === undefined) return undefined
  return { chainId, ...acceptedIn, finalityRule: describeFinality(rule), agreeingEndpoints }
}

/** `isValidSignature(bytes32 hash, bytes signature)` at a block, from the zero address. @source ERC-1271 */
function codeSignatureCall(
  { account, digest, signature }: CodeSignatureQuestion,
  block: bigint | 'latest',
): RpcCall {
  const digits = signature.slice(2)
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')
  const data = `${selector}${bytesToHex(digest).slice(2)}${word(64)}${word(digits.length / 2)}${padded}`
  const call = { from: caller, to: account, data, gas: toQuantity(BigInt(gasMax)) }
  return { method: 'eth_call', params: [call, block === 'latest' ? block : toQuantity(block)] }
}

/** True for ERC-1271's return value, false for another or a revert. @throws MalformedAnswerError for a node's error */
function acceptsSignature(answer: RpcAnswer | undefined): boolean {
  if (answer?.ok === false && isExecutionFailure(answer)) return false
  return acceptance.test(parseBytes(resultOf(answer, 'eth_call'), 'eth_call'))
}
