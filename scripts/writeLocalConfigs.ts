// Deploys the contracts on throw-away chains and writes `configs/*.local.json` for them. Addresses
// depend on the contracts' code alone, so any machine writes the same files.
// Run after a change of a contract: node scripts/run.mjs scripts/writeLocalConfigs.ts
import { fileNames } from './configs/configFiles.ts'
import { deployThrowAwayNetwork } from './configs/deployThrowAwayNetwork.ts'
import { writeLocalAddresses } from './configs/localAddressesFile.ts'
import { localConfigs } from './configs/localConfigs.ts'
import { writeJson } from './configs/writeJson.ts'

const names = fileNames('local')
const { chains, hub, quote } = localConfigs(await deployThrowAwayNetwork())
writeJson(`configs/${names.chains}`, chains)
writeJson(`configs/${names.hub}`, hub)
writeJson(`configs/${names.quote}`, quote)
console.log(`wrote ${[...Object.values(names), await writeLocalAddresses()].join(', ')}`)
