//! Every method by its name; the only file that matches on [`Method`].

use crate::field::latent::ppca::LatentMethod;
use crate::field::{Build, Built, Info, Nearest, Site};
use crate::input::Data;
use crate::parameter::ParameterInfo;
use eigenfold_linalg::error::{Error, Result, did_you_mean, guess};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Defines [`Method`] from one line for each method: its variant, its sentence, and the path of its parameters.
macro_rules! methods {
    ($($variant:ident: $sentence:literal, $module:path;)*) => {
        $(pub use $module;)*

        /// A method with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Method {
            $(#[doc = $sentence] $variant($variant),)*
            /// A method from outside of this library; its models cannot be saved.
            #[serde(skip)]
            Own(Own),
        }

        $(impl From<$variant> for Method {
            fn from(parameters: $variant) -> Method {
                Method::$variant(parameters)
            }
        })*

        impl Method {
            /// Every method with its default parameters.
            pub fn all() -> Vec<Method> {
                vec![$($variant::default().into()),*]
            }

            fn inner(&self) -> &dyn Build {
                match self {
                    $(Method::$variant(parameters) => parameters,)*
                    Method::Own(own) => own.0.as_ref(),
                }
            }

            fn inner_mut(&mut self) -> &mut dyn Build {
                match self {
                    $(Method::$variant(parameters) => parameters,)*
                    Method::Own(own) => own.0.as_mut(),
                }
            }
        }
    };
}

methods! {
    Pca: "Principal component analysis.", crate::field::scaling::pca::Pca;
    Mds: "Classical scaling.", crate::field::scaling::mds::Mds;
    KernelPca: "Kernel PCA.", crate::field::scaling::kernel_pca::KernelPca;
    Isomap: "Isomap.", crate::field::scaling::isomap::Isomap;
    Lle: "Locally linear embedding.", crate::field::local::lle::Lle;
    LaplacianEigenmaps: "Laplacian eigenmaps.", crate::field::laplacian::eigenmaps::LaplacianEigenmaps;
    DiffusionMaps: "Diffusion maps.", crate::field::laplacian::diffusion_maps::DiffusionMaps;
    Ltsa: "Local tangent space alignment.", crate::field::local::ltsa::Ltsa;
    HessianLle: "Hessian locally linear embedding.", crate::field::local::hessian_lle::HessianLle;
    ModifiedLle: "Modified locally linear embedding.", crate::field::local::modified_lle::ModifiedLle;
    Alle: "Acyclic locally linear embedding.", crate::field::local::alle::Alle;
    Meu: "Maximum entropy unfolding.", crate::field::entropy::meu::Meu;
    Drill: "The graphical lasso over the points.", crate::field::entropy::drill::Drill;
    Mvu: "Maximum variance unfolding.", crate::field::unfolding::mvu::Mvu;
    Smacof: "Metric stress.", crate::objective::stress::Smacof;
    Sammon: "Sammon's mapping.", crate::objective::stress::sammon::Sammon;
    Elastic: "Elastic embedding.", crate::objective::elastic::Elastic;
    Sne: "Stochastic neighbor embedding.", crate::objective::sne::Sne;
    SymmetricSne: "Symmetric stochastic neighbor embedding.", crate::objective::sne::SymmetricSne;
    Tsne: "t-distributed stochastic neighbor embedding.", crate::objective::tsne::Tsne;
    Umap: "Uniform manifold approximation and projection.", crate::objective::umap::Umap;
    Ppca: "Probabilistic principal component analysis.", crate::field::latent::ppca::Ppca;
    Fa: "Factor analysis.", crate::field::latent::fa::Fa;
    Ppco: "Probabilistic principal coordinates.", crate::field::latent::ppco::Ppco;
    Pkpca: "Probabilistic kernel PCA.", crate::field::latent::pkpca::Pkpca;
    Gplvm: "The Gaussian process latent variable model.", crate::objective::gplvm::Gplvm;
}

/// A method whose fit depends on sums over the rows alone.
pub(crate) enum OfSums<'a> {
    /// Principal components.
    Principal,
    /// A linear latent model.
    Latent(&'a dyn LatentMethod),
}

/// A method from outside of this library.
pub struct Own(Box<dyn Build>);

impl Clone for Own {
    fn clone(&self) -> Own {
        Own(self.0.boxed())
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Own").field(&self.0.info().name).finish()
    }
}

/// By name and parameters.
impl PartialEq for Own {
    fn eq(&self, other: &Own) -> bool {
        self.0.info().name == other.0.info().name && self.0.parameters() == other.0.parameters()
    }
}

impl Method {
    /// A method from outside of this library.
    pub fn own(method: impl Build + 'static) -> Method {
        Method::Own(Own(Box::new(method)))
    }

    /// The method of this name or alias, with its default parameters.
    ///
    /// # Errors
    ///
    /// If there is none; the message names the nearest one.
    pub fn from_name(name: &str) -> Result<Method> {
        // `SpectralEmbedding`, `spectral_embedding` and `t-SNE` are all accepted names.
        let letters = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
        let wanted = letters(name);
        let mut all = Method::all();
        let known = |m: &Method| {
            let info = m.info();
            letters(info.name) == wanted || info.aliases.iter().any(|alias| letters(alias) == wanted)
        };
        if let Some(at) = all.iter().position(known) {
            return Ok(all.swap_remove(at));
        }
        let choices: Vec<&'static str> = all.iter().map(|m| m.info().name).collect();
        let guess = guess(&choices, &wanted);
        let way_out = format!("{}choose from {}", did_you_mean(guess), choices.join(", "));
        Err(Error::Unknown {
            parameter: "method".into(),
            guess,
            choices,
            fact: format!("unknown method {name:?}"),
            way_out,
        })
    }
}

impl Method {
    /// Name, paper, inputs.
    pub fn info(&self) -> Info {
        self.inner().info()
    }

    /// Whether snapshots of the optimization can be kept ([`Recipe::snapshots`](crate::Recipe::snapshots)).
    pub fn has_snapshots(&self) -> bool {
        self.inner().has_snapshots()
    }

    /// The default recall of the neighbor search.
    pub fn recall(&self) -> f64 {
        self.inner().recall()
    }

    /// The nearest neighbors that the method needs, beside the graph of the recipe.
    pub(crate) fn nearest(&self, data: Data<'_>) -> Result<Option<Nearest>> {
        self.inner().nearest(data)
    }

    /// How the time of a fit divides among the graph, the field and the coordinates, roughly and in any unit.
    pub(crate) fn efforts(&self) -> [f64; 3] {
        self.inner().efforts()
    }

    /// The parameters of the method in its current state, with their values.
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        self.inner().parameters()
    }

    /// Every parameter that the method may have, in any state.
    pub fn possible_parameters(&self) -> Vec<ParameterInfo> {
        self.inner().possible_parameters()
    }

    /// Sets a parameter from its text.
    ///
    /// # Errors
    ///
    /// If there is no such parameter, the text is not one of its values, or the parameter does not apply and has
    /// another value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        self.inner_mut().set(name, value)
    }

    /// Sets several parameters, in any order: those on which others depend are set first.
    ///
    /// # Errors
    ///
    /// As [`Method::set`].
    pub fn set_all(&mut self, given: &[(&str, &str)]) -> Result<()> {
        self.inner_mut().set_all(given)
    }

    /// Whether the method fits a weight to each edge of the graph.
    pub fn has_weights(&self) -> bool {
        self.inner().has_weights()
    }

    /// Whether the classes of the points, which a model does not keep, take part in the fit.
    pub fn is_supervised(&self) -> bool {
        self.inner().is_supervised()
    }

    /// Whether the fitted model has a density of its own over new rows.
    pub fn has_density(&self) -> bool {
        self.inner().has_density()
    }

    /// Why the rule for new points has no standard deviation, where the method knows the reason.
    pub fn without_standard_deviation(&self) -> Option<&'static str> {
        self.inner().without_standard_deviation()
    }

    /// Whether the method brings the columns to one scale itself.
    pub(crate) fn scales_columns(&self) -> bool {
        self.inner().scales_columns()
    }

    /// Whether the coordinates are the directions of largest variance of the points as they are measured.
    pub(crate) fn keeps_largest_variance(&self) -> bool {
        self.inner().keeps_largest_variance()
    }

    /// Whether the method is from outside of this library.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self, Method::Own(_))
    }

    /// What sums over the rows the fit depends on, if it depends on nothing else.
    pub(crate) fn of_sums(&self) -> Option<OfSums<'_>> {
        match self {
            Method::Pca(_) => Some(OfSums::Principal),
            Method::Ppca(ppca) => Some(OfSums::Latent(ppca)),
            Method::Fa(fa) => Some(OfSums::Latent(fa)),
            _ => None,
        }
    }

    /// Stage 2.
    ///
    /// # Errors
    ///
    /// If the method cannot start from this input, a parameter is out of range, or the work would exceed the memory
    /// limit.
    pub fn build(&self, site: &Site<'_>) -> Result<Built> {
        self.inner().build(site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_answer_to_their_names_and_a_slip_gets_a_guess() {
        for method in Method::all() {
            assert_eq!(Method::from_name(method.info().name).unwrap(), method);
            for alias in method.info().aliases {
                assert_eq!(Method::from_name(alias).unwrap(), method);
            }
        }
        for (typed, name) in [
            ("SpectralEmbedding", "laplacian-eigenmaps"),
            ("t-SNE", "tsne"),
            ("locally_linear_embedding", "lle"),
            ("KernelPCA", "kernel-pca"),
        ] {
            assert_eq!(Method::from_name(typed).unwrap().info().name, name);
        }
        let message = Method::from_name("isomp").unwrap_err().to_string();
        assert!(message.contains("did you mean isomap?"), "{message}");
    }
}
