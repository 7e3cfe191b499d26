import {
  type AttestationKind,
  type AttestationKindName,
  type AttestationVerdict,
  attestationKinds,
  type ChainsFile,
  type HubFile,
  type SignatureContext,
  verifyAttestation,
} from '@causeway/core'
import { recoverSigner } from '@causeway/signer'

export type VerifyOptions = {
  /** The response as JSON. */
  readonly file: string
  readonly signers: readonly string[]
  readonly threshold: number
  /** Of the configuration files that name the hub and the chains. */
  readonly environment: string
  readonly configDirectory: string | undefined
  /** Found by the response's form when it is not named. */
  readonly kind: AttestationKindName | undefined
}

const names = [
  'deposits',
  'withdrawals',
  'fills',
  'refunds',
  'withdrawal-initiation',
  'withdrawal-initiated',
  'no-fill-or-refund',
  'recovery',
] as const satisfies readonly AttestationKindName[]

export const usage = [
  'usage: npm run verify-attestation -- --file response.json --signers 0x…;0x… --threshold 2',
  '  [--environment local] [--config-dir configs] [--kind <kind>]',
  `  kinds: ${names.join(', ')}`,
].join('\n')

const known = ['file', 'signers', 'threshold', 'environment', 'config-dir', 'kind']

/** `undefined` for anything that is not of the form of `usage`. */
export function parseOptions(argv: readonly string[]): VerifyOptions | undefined {
  const given = new Map<string, string>()
  for (let index = 0; index < argv.length; index += 2) {
    const name = argv[index]?.replace(/^--/, '') ?? ''
    const value = argv[index + 1]
    if (!argv[index]?.startsWith('--') || !known.includes(name) || value === undefined) return undefined
    given.set(name, value)
  }
  const file = given.get('file')
  const signers = (given.get('signers') ?? '').split(/[;,]/).filter((text) => text.trim() !== '')
  const threshold = given.get('threshold') ?? '1'
  const kind = names.find((name) => name === given.get('kind'))
  const areSigners = signers.length > 0 && signers.every((text) => /^0x[0-9a-fA-F]{40}$/.test(text.trim()))
  if (file === undefined || !areSigners || !/^[1-9][0-9]{0,8}$/.test(threshold)) return undefined
  if (given.has('kind') && kind === undefined) return undefined
  return {
    file,
    signers: signers.map((text) => text.trim()),
    threshold: Number(threshold),
    environment: given.get('environment') ?? 'local',
    configDirectory: given.get('config-dir'),
    kind,
  }
}

/** Verifies one response against the hub and the chains of an environment. */
export function verifyFile(parts: {
  options: VerifyOptions
  response: unknown
  hub: HubFile
  chains: ChainsFile
}): AttestationVerdict {
  const { options, response, hub, chains } = parts
  const terms = { ...options, ...signatureContext(hub, chains), recover: recoverSigner }
  const verify = <Response>(kind: AttestationKind<Response>) =>
    verifyAttestation(response, { ...terms, kind })
  const table: Record<AttestationKindName, () => AttestationVerdict> = {
    deposits: () => verify(attestationKinds.deposits),
    withdrawals: () => verify(attestationKinds.withdrawals),
    fills: () => verify(attestationKinds.fills),
    refunds: () => verify(attestationKinds.refunds),
    'withdrawal-initiation': () => verify(attestationKinds['withdrawal-initiation']),
    'withdrawal-initiated': () => verify(attestationKinds['withdrawal-initiated']),
    'withdrawals-v2': () => verify(attestationKinds['withdrawals-v2']),
    'withdrawal-initiation-v2': () => verify(attestationKinds['withdrawal-initiation-v2']),
    'withdrawal-initiated-v2': () => verify(attestationKinds['withdrawal-initiated-v2']),
    'no-fill-or-refund': () => verify(attestationKinds['no-fill-or-refund']),
    'nonce-mapping': () => verify(attestationKinds['nonce-mapping']),
    recovery: () => verify(attestationKinds.recovery),
  }
  if (options.kind !== undefined) return table[options.kind]()
  const verdicts = names.map((name) => table[name]())
  const fitting = verdicts.find(({ problems }) => problems.every(({ reason }) => reason !== 'schema'))
  return fitting ?? table.deposits()
}

/** Networks that signatures of an environment are bound to, by its files. */
export function signatureContext(hubFile: HubFile, { chains }: ChainsFile): SignatureContext {
  const networks = new Map(
    chains.map(({ id, vmType, additionalData }) => [id, { vmType, network: additionalData?.network }]),
  )
  return { hub: hubDomains(hubFile), networkOf: (id) => networks.get(id) }
}

function hubDomains(file: HubFile): SignatureContext['hub'] {
  const { auroraEvmChainId, auroraAllocatorSpenderAddress, genericMappingAddress } = file
  const allocator =
    auroraEvmChainId === undefined || auroraAllocatorSpenderAddress === undefined
      ? undefined
      : { chainId: auroraEvmChainId, verifyingContract: auroraAllocatorSpenderAddress }
  return {
    executionDomain: {
      chainId: file.evmChainId,
      verifyingContract: file.oracleAddress,
      version: file.oracleVersion,
    },
    ...(allocator !== undefined && { withdrawRequestDomain: allocator }),
    ...(genericMappingAddress !== undefined && {
      mappingDomain: { chainId: file.evmChainId, verifyingContract: genericMappingAddress },
    }),
  }
}

/** Lines for a terminal. */
export function describeVerdict({
  isQuorum,
  matched,
  required,
  signers,
  isExecutionHeld,
  problems,
}: AttestationVerdict): string {
  return [
    `${isQuorum ? 'quorum' : 'NO quorum'}: ${matched} of ${required} required signers signed all of it`,
    ...(isExecutionHeld ? ['  an oracle holds the execution: this is about the message alone'] : []),
    ...signers.map((signer) => `  counted   ${signer}`),
    ...problems.map((problem) => {
      if (problem.reason === 'schema') return `  unreadable at ${problem.detail || 'its top'}`
      if (problem.reason === 'nothing_to_sign') return '  the answer holds nothing to sign'
      return `  ignored   ${problem.signer} (${problem.reason === 'not_proven' ? 'not proven in every array' : 'not on the list'})`
    }),
  ].join('\n')
}
