import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import { recordAction } from '../adminAction.ts'
import { lockKey, lockUsableKey } from '../keys/keyAdministration.ts'
import { WalletNotLinkedError } from './walletErrors.ts'

export type LinkedWallet = {
  readonly wallet: Hex
  /** Usable keys that draw on its balance, oldest link first. */
  readonly keys: readonly { readonly id: string; readonly label: string; readonly linkedAt: Date }[]
}

/** Operations on wallet links: one implementation behind the command line and the admin listener. */
export interface WalletAdministration {
  list(): Promise<readonly LinkedWallet[]>
  /**
   * The key sponsors nothing more; holds of its quotes finish, the balance stays with the wallet.
   * @throws ApiKeyNotFoundError, WalletNotLinkedError
   */
  unlink(args: { actor: string; apiKeyId: string }): Promise<{ readonly wallet: Hex }>
}

export function createWalletAdministration(database: SqlDatabase): WalletAdministration {
  return {
    async list() {
      const rows = await database.query<LinkRow>(
        `select wallet, id, label, wallet_linked_at from api_key
         where wallet is not null and revoked_at is null order by wallet, wallet_linked_at, id`,
      )
      return groupByWallet(rows)
    },

    unlink: ({ actor, apiKeyId }) =>
      database.transaction(async (tx) => {
        const { wallet } = await lockKey(tx, apiKeyId)
        if (wallet === null) throw new WalletNotLinkedError()
        await tx.query('update api_key set wallet = null, wallet_linked_at = null where id = $1', [apiKeyId])
        await recordAction(tx, { actor, action: 'wallets.unlink', subject: apiKeyId, details: { wallet } })
        return { wallet }
      }),
  }
}

/**
 * Makes the wallet the one sponsor of the key; the caller has checked that its owner wants it.
 * @param args.actor who asked for it; default: the key itself
 * @throws ApiKeyNotFoundError, ApiKeyRevokedError
 */
export async function linkWallet(
  tx: SqlTx,
  args: { apiKeyId: string; wallet: Hex; actor?: string | undefined },
): Promise<void> {
  const { apiKeyId, wallet, actor = `key:${apiKeyId}` } = args
  const { wallet: before } = await lockUsableKey(tx, apiKeyId)
  await tx.query('update api_key set wallet = $2, wallet_linked_at = clock_timestamp() where id = $1', [
    apiKeyId,
    wallet,
  ])
  const details = { wallet, before }
  await recordAction(tx, { actor, action: 'wallets.link', subject: apiKeyId, details })
}

type LinkRow = {
  readonly wallet: Hex
  readonly id: string
  readonly label: string
  readonly wallet_linked_at: Date
}

/** Keeps the order of the rows. */
function groupByWallet(rows: readonly LinkRow[]): readonly LinkedWallet[] {
  const wallets = [...new Set(rows.map(({ wallet }) => wallet))]
  return wallets.map((wallet) => ({
    wallet,
    keys: rows
      .filter((row) => row.wallet === wallet)
      .map(({ id, label, wallet_linked_at: linkedAt }) => ({ id, label, linkedAt })),
  }))
}
