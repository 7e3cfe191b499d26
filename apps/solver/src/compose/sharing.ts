import { ConfigurationError, type Hex } from '@causeway/core'
import type { Sharing } from '../judge/turns.ts'
import type { LoadedFiles } from './files.ts'

/** The fill wallets that share the market, or the own one alone. @throws ConfigurationError if the own one is missing in the list */
export function sharingOf({ sharing }: LoadedFiles['solver'], fillWallet: Hex): Sharing {
  // A single wallet has all turns, so their length is never used.
  if (sharing === undefined) return { fillWallets: [fillWallet], own: fillWallet, turnSeconds: 0 }
  // CAST: the file's schema lets addresses alone through.
  const fillWallets = sharing.fillWallets.map((one) => one.toLowerCase() as Hex)
  if (!fillWallets.includes(fillWallet))
    throw new ConfigurationError(
      `solver: sharing.fillWallets lacks the fill wallet of this solver, ${fillWallet}`,
    )
  return { fillWallets, own: fillWallet, turnSeconds: sharing.turnSeconds }
}
