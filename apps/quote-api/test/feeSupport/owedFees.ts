// App fees that are owed to somebody, as the ledger accrues them with a settled request.
import type { Hex, SqlDatabase } from '@causeway/core'
import { accrueAppFees } from '@causeway/ledger'
import type { TestNetwork } from '@causeway/localnet'
import { generatePrivateKey } from 'viem/accounts'

/** @param owed.amount of USDC on base. @param owed.recipient in lower case */
export async function accrueUsdc(
  database: Pick<SqlDatabase, 'transaction'>,
  { deployment }: Pick<TestNetwork, 'deployment'>,
  owed: { readonly recipient: Hex; readonly amount: bigint },
): Promise<void> {
  const { chainId, tokens } = deployment.base
  const asset = { chainId, address: tokens.USDC, symbol: 'USDC', name: 'USD Coin', decimals: 6 }
  const accrual = { requestId: generatePrivateKey(), asset, fees: [owed] }
  await database.transaction((tx) => accrueAppFees(tx, accrual))
}
