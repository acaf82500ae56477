export default {
  input: '../../docs/reference/openapi.json',
  output: { path: 'generated/hey-api', importFileExtension: '.ts' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
};
