import { bytesToHex, domainSeparator, type Hex, type ReadOptions } from '@causeway/core'
import type { EndpointView, QuorumClient, RpcAnswer } from '@causeway/rpc'
import { MalformedAnswerError, parseBytes, resultOf, singleRoundQuestion } from '@causeway/rpc'
import { isExecutionFailure } from '../agreement/comparableAnswer.ts'
import { readAbi } from '../contracts/abiReader.ts'
import { readNewest } from './hubReader.ts'

/** EIP-712 domain that a contract reports; a missing getter is `undefined`. */
export type ShownDomain = {
  /** EIP-5267 `eip712Domain()`. Lower case, decimal chain id. */
  readonly described:
    | {
        readonly name: string
        readonly version: string
        readonly chainId: string
        readonly verifyingContract: Hex
      }
    | undefined
  /** `DOMAIN_SEPARATOR()`. */
  readonly separator: Hex | undefined
}

/** A configured EIP-712 domain in which signatures are made, and the names of its settings, for problems. */
export type ExpectedDomain = {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly verifyingContract: Hex
  readonly settings: { readonly version: string; readonly chainId: string; readonly contract: string }
}

/**
 * Compares an expected domain with the one that its contract reports, at start: the contract would refuse signatures in
 * a wrong domain. A contract without either getter cannot be compared, which is a problem as well.
 * @returns sentences that name settings; empty when all fits
 */
export function domainProblems(expected: ExpectedDomain, shown: ShownDomain): readonly string[] {
  const { settings, verifyingContract } = expected
  const { described, separator } = shown
  if (described === undefined && separator === undefined) {
    return [`${settings.contract} shows no EIP-712 domain, neither eip712Domain() nor DOMAIN_SEPARATOR()`]
  }
  const problems: string[] = []
  if (described !== undefined) {
    if (described.name !== expected.name) {
      problems.push(`${settings.contract} is a contract of another name than ${expected.name}`)
    }
    if (described.version !== expected.version) {
      problems.push(`${settings.version} is not the version of the contract at ${settings.contract}`)
    }
    if (described.chainId !== String(expected.chainId)) {
      problems.push(`${settings.chainId} is not the chain that ${settings.contract} verifies for`)
    }
    if (described.verifyingContract !== verifyingContract.toLowerCase()) {
      problems.push(`${settings.contract} is not the contract that it verifies for`)
    }
  }
  // A member that is wrong by itself makes the separators differ as well, and is reported already.
  if (problems.length === 0 && separator !== undefined && separator !== separatorOf(expected)) {
    const { version, chainId, contract } = settings
    problems.push(`${version} or ${chainId}: the domain of the contract at ${contract} is another one`)
  }
  return problems
}

function separatorOf({ name, version, chainId, verifyingContract }: ExpectedDomain): Hex {
  return bytesToHex(domainSeparator({ name, version, chainId, verifyingContract }))
}

const selectors = { eip712Domain: '0x84b0196e', domainSeparator: '0x3644e515' } as const

/** Reads the domain at the newest block of a quorum. @throws UpstreamDisagreementError, UpstreamUnavailableError */
export async function readShownDomain(
  quorum: QuorumClient,
  address: Hex,
  { signal }: ReadOptions,
): Promise<ShownDomain> {
  const ask = async <Value>(data: Hex, parse: (answer: RpcAnswer | undefined) => Value) =>
    (await readNewest(quorum, { to: address, data, parse }, signal)).value
  const [described, separator] = await Promise.all([
    ask(selectors.eip712Domain, parseDescribed),
    ask(selectors.domainSeparator, parseSeparator),
  ])
  return { described, separator }
}

/** Those of `addresses` that have no code, as enough endpoints show it, each at its newest block. */
export async function findCodeless(
  quorum: QuorumClient,
  addresses: readonly Hex[],
  { signal }: ReadOptions,
): Promise<readonly Hex[]> {
  const requestName = 'eth_getCode'
  const { facts } = await quorum.read({
    signal,
    ...singleRoundQuestion(async (view: EndpointView, ownSignal) => {
      const calls = addresses.map((address) => ({ method: requestName, params: [address, 'latest'] }))
      const answers = await view.ask(calls, ownSignal)
      const isCodeless = (answer: RpcAnswer | undefined) =>
        parseBytes(resultOf(answer, requestName), requestName) === '0x'
      return { kind: 'final', facts: addresses.filter((_address, index) => isCodeless(answers[index])) }
    }),
  })
  return facts
}

/** Returned data; `undefined` if the contract lacks the getter. @throws MalformedAnswerError for a node's own error */
function getterResult(answer: RpcAnswer | undefined): Hex | undefined {
  if (answer?.ok === false && isExecutionFailure(answer)) return undefined
  const data = parseBytes(resultOf(answer, 'eth_call'), 'eth_call')
  return data === '0x' ? undefined : data
}

function parseSeparator(answer: RpcAnswer | undefined): Hex | undefined {
  const data = getterResult(answer)
  return data?.length === 66 ? data : undefined
}

/** `(bytes1 fields, string name, string version, uint256 chainId, address contract, bytes32 salt, uint256[])`. */
function parseDescribed(answer: RpcAnswer | undefined): ShownDomain['described'] {
  const data = getterResult(answer)
  if (data === undefined || data.length < 2 + 64 * 7) return undefined
  const reader = readAbi(data, 'eip712Domain()')
  const text = (member: number) => {
    const start = reader.position(32 * member)
    return Buffer.from(reader.slice(start + 32, reader.position(start)).slice(2), 'hex').toString('utf8')
  }
  const contract = reader.uint(32 * 4)
  if (contract >> 160n !== 0n) throw new MalformedAnswerError('eip712Domain()')
  return {
    name: text(1),
    version: text(2),
    chainId: reader.uint(32 * 3).toString(),
    verifyingContract: `0x${contract.toString(16).padStart(40, '0')}`,
  }
}
