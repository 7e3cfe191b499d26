import { type Hex, hubAlias, withdrawalKey, withdrawRequestPayloadId } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { decodeBitcoinWithdrawal, encodeBitcoinPayload, withdrawRequestOf } from '@causeway/families/rules'
import type { FamilySide, SeenWithdrawal } from './familySide.ts'
import type { FamilyOracle } from './oracle.ts'

/** Owner of the withdrawals in the cases of all families. */
export const owner = {
  withdrawer: `0x${'11'.repeat(20)}`,
  withdrawerChainId: 'ethereum',
  withdrawalNonce: '42',
} as const

/** The owner's account on the hub. */
export const ownerAlias = hubAlias({ chainId: 'ethereum', ...mainNetwork('ethereum-vm') }, owner.withdrawer)

/** From now on the allocator has issued exactly this withdrawal to the owner. @returns its one key */
export function issue(
  { chain }: Pick<FamilySide, 'chain'>,
  oracle: Pick<FamilyOracle, 'issue'>,
  { withdrawal, depository = chain.depository, currency, amount, recipient }: SeenWithdrawal,
): Hex {
  const request = withdrawRequestOf(chain, withdrawal, {
    depository,
    currency,
    amount,
    recipient,
    spender: ownerAlias,
    nonce: BigInt(owner.withdrawalNonce),
  })
  const payloadId = withdrawRequestPayloadId(request)
  oracle.issue(payloadId, payloadOf(chain, withdrawal))
  return withdrawalKey({ hubId: 'relay', payloadId })
}

/** The allocator's payload whose withdrawal these bytes are. */
function payloadOf({ vmType }: FamilySide['chain'], withdrawal: Hex): Hex {
  if (vmType !== 'bitcoin-vm') return withdrawal
  const { inputs, transaction } = decodeBitcoinWithdrawal(withdrawal)
  return encodeBitcoinPayload({ inputs, outputs: transaction.outputs })
}
