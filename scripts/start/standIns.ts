// The stand-ins of Solana, Bitcoin, Tron, Hyperliquid and Lighter in one process; `npm start` runs it. It is a script and no
// part of `localnet`, because ids on Lighter are made by code of `chains`.
import { runFamilies } from '@causeway/localnet/families'

await runFamilies({
  async hashTransfer(lighterChainId) {
    // Loaded when the first transfer is taken: it needs 75 MiB.
    const { lighterTransferHasher } = await import('@causeway/families')
    return lighterTransferHasher(lighterChainId)
  },
})
