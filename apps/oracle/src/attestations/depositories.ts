import { codecOf } from '@causeway/core/encodings'
import type { AttestedChain } from './context.ts'
import { AttestationError } from './errors.ts'

/**
 * The depository of a withdrawal request in canonical spelling; the chain's primary one where it names none.
 * @throws AttestationError when the chain has no such depository; InvalidAddressError
 * @source rule P-113
 */
export function requestedDepository(chain: AttestedChain, requested: string | undefined): string {
  if (requested === undefined) return primaryDepository(chain)
  const codec = codecOf(chain)
  const canonical = codec.canonicalAddress(requested)
  const configured = [chain.depository, ...(chain.additionalDepositories ?? [])]
  const isRequested = (depository: string | undefined) =>
    depository !== undefined && codec.canonicalAddress(depository) === canonical
  if (!configured.some(isRequested)) {
    throw notConfigured(chain.id)
  }
  return canonical
}

/** The chain's depository as configured, in canonical spelling. @throws AttestationError without one */
function primaryDepository(chain: AttestedChain): string {
  if (chain.depository === undefined) throw notConfigured(chain.id)
  return codecOf(chain).canonicalAddress(chain.depository)
}

function notConfigured(chainId: string): AttestationError {
  return new AttestationError(
    'DEPOSITORY_NOT_CONFIGURED',
    `The depository is not configured for chain ${chainId}.`,
    {
      data: { chainId },
    },
  )
}
