import { alertsCheck } from './alerts.ts'
import { containersCheck } from './containers.ts'
import { dependenciesCheck } from './dependencies.ts'
import { deploymentCheck } from './deployment/deployment.ts'
import { errorsCheck } from './errors.ts'
import { exactVersionsCheck } from './exactVersions.ts'
import { familiesCheck } from './families.ts'
import type { Check } from './finding.ts'
import { foldersCheck } from './folders.ts'
import { leaksCheck } from './leaks.ts'
import { linksCheck } from './links.ts'
import { lockfileCheck } from './lockfile.ts'
import { migrationsCheck } from './migrations.ts'
import { observabilityCheck } from './observability.ts'
import { releasesCheck } from './releases.ts'
import { specificationCheck } from './specification.ts'
import { storedBodiesCheck } from './storedBodies.ts'
import { variablesCheck } from './variables.ts'

/** The checks that `npm test` runs over the repository's files. */
export const checks: readonly Check[] = [
  alertsCheck,
  containersCheck,
  dependenciesCheck,
  deploymentCheck,
  errorsCheck,
  exactVersionsCheck,
  familiesCheck,
  foldersCheck,
  leaksCheck,
  linksCheck,
  lockfileCheck,
  migrationsCheck,
  observabilityCheck,
  releasesCheck,
  specificationCheck,
  storedBodiesCheck,
  variablesCheck,
]
