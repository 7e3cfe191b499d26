import swaggerUi from '@fastify/swagger-ui'
import type { HttpApp } from './fastifyTypes.ts'

/** Where the page is; the description itself is beneath. */
export const descriptionPath = '/documentation'

/** Asks nobody else, and works without TLS, as on a listener of a private network. */
const pagePolicy = {
  'default-src': "'self'",
  'base-uri': "'self'",
  'frame-ancestors': "'none'",
  'img-src': ["'self'", 'data:'],
  'object-src': "'none'",
  // The page sizes parts of itself by style attributes.
  'style-src': ["'self'", "'unsafe-inline'"],
}

/** On a narrow screen a line per part of an operation's head; what is too wide breaks or scrolls in its own box. */
const phoneStyle = `
@media (max-width: 640px) {
  .swagger-ui .topbar { display: none }
  .swagger-ui .wrapper, .swagger-ui .info, .swagger-ui .scheme-container { padding-inline: 8px }
  .swagger-ui .info { margin-block: 16px }
  .swagger-ui .info .title { font-size: 24px; overflow-wrap: anywhere }
  .swagger-ui .scheme-container .schemes { flex-wrap: wrap; gap: 8px }
  .swagger-ui .opblock .opblock-summary { align-items: flex-start }
  .swagger-ui .opblock .opblock-summary-control { flex-wrap: wrap; min-width: 0; text-align: start }
  .swagger-ui .opblock .opblock-summary-path-description-wrapper { min-width: 0; gap: 2px 8px }
  .swagger-ui .opblock .opblock-summary-path { max-width: 100%; word-break: normal; overflow-wrap: anywhere }
  .swagger-ui .opblock .opblock-summary-description { flex-basis: 100%; font-size: 14px; overflow-wrap: anywhere }
  .swagger-ui .opblock-body, .swagger-ui .responses-inner, .swagger-ui .table-container { overflow-x: auto }
  .swagger-ui table.parameters, .swagger-ui table.parameters > thead, .swagger-ui table.parameters > tbody,
  .swagger-ui table.parameters > tbody > tr, .swagger-ui table.parameters > tbody > tr > td { display: block; max-width: 100% }
  .swagger-ui table.parameters > thead { display: none }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select,
  .swagger-ui textarea { max-width: 100%; min-width: 0; font-size: 16px }
  .swagger-ui pre, .swagger-ui .microlight { overflow-wrap: anywhere; white-space: pre-wrap }
  .swagger-ui .model-box { max-width: 100%; overflow-x: auto }
}
`

/** The page of the description, for who reads. */
export async function registerReferencePage(app: HttpApp, title: string): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: descriptionPath,
    staticCSP: pagePolicy,
    theme: { title: title, css: [{ filename: 'phone.css', content: phoneStyle }] },
    // Schemas stand at their operations; a second list of them only makes the page slow.
    uiConfig: { docExpansion: 'list', validatorUrl: null, defaultModelsExpandDepth: -1 },
  })
}
