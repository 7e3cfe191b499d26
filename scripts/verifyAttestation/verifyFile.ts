import {
  type AttestationKind,
  type AttestationKindName,
  type AttestationVerdict,
  attestationKinds,
  type SignatureContext,
  verifyAttestation,
} from '@causeway/attestations'
import type { ChainsFile, HubFile } from '@causeway/core/config'
import { recoverSigner } from '@causeway/signer'
import type { VerifyOptions } from './verifyOptions.ts'

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
  const verdicts = Object.values(table).map((attempt) => attempt())
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
